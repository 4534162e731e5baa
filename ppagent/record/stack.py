"""What runs there, in the few words of incident.yaml: version, cards, model. Only what an artifact says."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from ppagent.errors import PpagentError, ToolError
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.server_info import parse_server_info
from ppagent.targets.target import Artifact

Texts = Mapping[tuple[str, Artifact], str]
"""Artifacts that were recorded, by host."""

_HUB = re.compile(r"models--(?P<owner>[^/]+?)--(?P<name>[^/]+)")


def stack_of(texts: Texts) -> dict[str, str]:
    """`stack` of incident.yaml; what nothing tells is left out."""
    found = {"engine": "sglang", "version": _version(texts), "gpus": _gpus(texts), "model": _model(texts)}
    return {name: value for name, value in found.items() if value}


def architectures_of(text: str) -> tuple[str, ...]:
    """The model's classes, by its config.json."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    names = config.get("architectures") if isinstance(config, dict) else None
    return tuple(str(name) for name in names) if isinstance(names, list) else ()


def _first(texts: Texts, artifact: Artifact, read: Callable[[str], str]) -> str:
    """What the first host's artifact says that says anything."""
    for (_, each), text in texts.items():
        if each is not artifact:
            continue
        try:
            found = read(text)
        except PpagentError:  # it is recorded as it is; that it cannot be read is for the diagnosis to say
            continue
        if found:
            return found
    return ""


def _version(texts: Texts) -> str:
    written = _first(texts, Artifact.VERSION, lambda text: text.strip().partition("\n")[0][:40])
    return written or _first(texts, Artifact.SERVER_INFO, lambda text: parse_server_info(text).version or "")


def _model(texts: Texts) -> str:
    asked = _first(texts, Artifact.SERVER_INFO, lambda text: str(parse_server_info(text).args.get("model_path") or ""))
    return _named(asked or _first(texts, Artifact.LAUNCH, _launched))


def _launched(text: str) -> str:
    return str(parse_launch(text, None).args.get("model_path") or "")


def _named(path: str) -> str:
    """A model by its name: `owner/name` of a hub, of a folder the last part."""
    hub = _HUB.search(path)
    if hub is not None:
        return f"{hub['owner']}/{hub['name']}"
    parts = PurePosixPath(path).parts
    return path if len(parts) == 2 and not path.startswith(("/", ".", "~")) else (parts[-1] if parts else "")


def _gpus(texts: Texts) -> str:
    """`8x NVIDIA H200`: the cards of all hosts that the server's processes are on, all cards where that is not told."""
    counted: Counter[str] = Counter()
    for (host, artifact), text in texts.items():
        if artifact is not Artifact.GPUS:
            continue
        names = _column_by_index(text, "name")
        used = {i for i in _column_by_index(texts.get((host, Artifact.GPU_PROCESSES), ""), "pid") if i in names}
        counted.update(name for index, name in names.items() if not used or index in used)
    return ", ".join(f"{count}x {name}" for name, count in counted.most_common())


def _column_by_index(table: str, column: str) -> dict[str, str]:
    """A column of a table of cards, by the card's index."""
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(table.splitlines()) if row]
    except csv.Error as error:
        raise ToolError(f"the table of cards cannot be read: {error}") from error
    header = rows[0] if rows else []
    if "index" not in header or column not in header:
        return {}
    places = header.index("index"), header.index(column)
    return {row[places[0]]: row[places[1]] for row in rows[1:] if len(row) > max(places) and row[places[1]]}
