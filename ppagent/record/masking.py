"""How each file of a recording is masked, by its place in it."""

from pathlib import PurePosixPath

from ppagent.record.mask_json import mask_json
from ppagent.record.mask_text import masked_code, masked_log, masked_text

LOG = "server.log"


def masked(place: str, text: str) -> str:
    """The text of a recording's file with its secrets masked. Masking twice changes nothing."""
    path = PurePosixPath(place)
    if "source" in path.parts[:-1]:
        return masked_code(text)
    if path.name == LOG:
        return masked_log(text)
    match path.suffix:
        case ".json":
            found = mask_json(text)
            return masked_text(text) if found is None else found
        case ".jsonl":
            return "".join(map(_row, text.splitlines(keepends=True)))
        case _:
            return masked_text(text)


def _row(line: str) -> str:
    found = mask_json(line)
    return masked_text(line) if found is None else found
