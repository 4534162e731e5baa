"""JSON in pasted text: what the server answered, a model's config, results of a benchmark."""

import json
from dataclasses import dataclass, field

from ppagent.targets.pasted_bench import is_bench_result
from ppagent.targets.pasted_sheet import Sheet
from ppagent.targets.target import Artifact

MOST_TRIES = 2000


@dataclass
class JsonParts:
    """Texts as they were pasted."""

    artifacts: dict[Artifact, str] = field(default_factory=dict)
    bench: list[str] = field(default_factory=list)


def take_json(sheet: Sheet) -> JsonParts:
    """Takes JSON objects that begin a line and are known by their keys; other JSON stays where it is."""
    parts = JsonParts()
    text = "\n".join(sheet.lines)
    decoder = json.JSONDecoder()
    place, done, tries = 0, 0, 0
    for i, line in enumerate(sheet.lines):
        start = place + len(line) - len(line.lstrip())
        place += len(line) + 1
        if start < done or not sheet.is_free(i) or not line.lstrip().startswith("{") or tries >= MOST_TRIES:
            continue
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and _keep(value, text[start:end], parts):
            sheet.take(range(i, i + text.count("\n", start, end) + 1))
            done = end
    return parts


def _keep(value: dict[str, object], written: str, parts: JsonParts) -> bool:
    artifact = _artifact_of(value)
    if artifact is not None:
        parts.artifacts.setdefault(artifact, written)
    elif is_bench_result(value):
        parts.bench.append(" ".join(written.split("\n")))
    return artifact is not None or is_bench_result(value)


def _artifact_of(value: dict[str, object]) -> Artifact | None:
    if "internal_states" in value or {"model_path", "tp_size"} <= value.keys():
        return Artifact.SERVER_INFO
    if isinstance(value.get("loads"), list):
        return Artifact.LOADS
    if "architectures" in value or {"num_hidden_layers", "hidden_size"} <= value.keys():
        return Artifact.MODEL_CONFIG
    return None
