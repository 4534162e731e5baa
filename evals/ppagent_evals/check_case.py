"""What a contributed case lacks before it can be scored, one sentence each."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import yaml

from ppagent.errors import UserError
from ppagent.record.masking import masked
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.legality.renames import renamed
from ppagent.sglang.versions import parse_version
from ppagent_evals.answer import Answer, read_answer, unknown_causes

KINDS = ("measured", "reconstructed", "synthetic")
LARGEST_TEXT = 5_000_000


def faults_of(recording: Path) -> tuple[str, ...]:
    """Everything that is missing or wrong; empty where the case can be scored and shared."""
    if not recording.is_dir():
        return (f"{recording} is no folder.",)
    faults = [*_incident_faults(recording), *_secrets(recording)]
    try:
        answer = read_answer(recording)
    except UserError as error:
        return (*faults, str(error))
    return (*faults, *_answer_faults(recording, answer))


def _incident_faults(recording: Path) -> Iterator[str]:
    path = recording / "incident.yaml"
    if not path.is_file():
        yield "incident.yaml is missing: it holds the question in the user's words and where the figures come from."
        return
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        yield f"incident.yaml is no YAML: {str(error).splitlines()[0]}."
        return
    document = document if isinstance(document, dict) else {}
    for field in ("id", "title", "question", "origin", "stack"):
        if not document.get(field):
            yield f"incident.yaml has no {field}."
    kind = document.get("origin", {}).get("kind") if isinstance(document.get("origin"), dict) else None
    if kind not in KINDS:
        yield f"incident.yaml's origin.kind is {kind!r}, and has to be one of {', '.join(KINDS)}."
    if not any((recording / "hosts").glob("*/*")):
        yield "There is no artifact under hosts/<name>/."


def _answer_faults(recording: Path, answer: Answer) -> Iterator[str]:
    for cause in unknown_causes(answer):
        yield f"answer.yaml names {cause}, which is not in the list of causes."
    if answer.verdict == "diagnosed" and not answer.causes:
        yield "answer.yaml says diagnosed and names no cause."
    for cause in sorted({*answer.causes, *answer.also_accepted} & set(answer.must_not_support)):
        yield f"answer.yaml both accepts and forbids {cause}."
    for artifact in answer.evidence:
        if not any(path.name == Path(artifact).name for path in recording.rglob("*")):
            yield f"answer.yaml asks for a citation of {artifact}, which the recording does not hold."
    yield from _flag_faults(recording, answer)
    if not answer.ref or not answer.note:
        yield "answer.yaml needs ref (where the facts come from) and note (why, in a sentence)."


def _flag_faults(recording: Path, answer: Answer) -> Iterator[str]:
    """Flags that an accepted fix sets and the recorded version does not have under any name. Taking an unknown flag out
    may well be the fix."""
    path = next(iter(sorted((recording / "hosts").glob("*/sglang_version.txt"))), None)
    version = parse_version(path.read_text(encoding="utf-8")) if path is not None else None
    if version is None:
        return
    catalogue = catalogue_of(str(version))
    for flag in sorted({flag for fix in answer.fixes for flag in fix.set}):
        if renamed(flag, catalogue) is None:
            yield f"answer.yaml's fix uses {flag}, which SGLang {version} does not have."


def _text_of(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):  # what cannot be unpacked holds no text
            return ""
    return data.decode("utf-8", errors="surrogateescape")


def _secrets(recording: Path) -> Iterator[str]:
    for path in sorted(p for p in recording.rglob("*") if p.is_file() and p.stat().st_size < LARGEST_TEXT):
        place = path.relative_to(recording).as_posix()
        text = _text_of(path)
        if masked(place, text) != text:
            yield f"{place} holds what looks like a secret: mask it."
