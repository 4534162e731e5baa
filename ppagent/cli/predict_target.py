"""The part of a recording that `ppagent predict` needs, read into the model's terms."""

import csv
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppagent.errors import ExitStatus, UserError
from ppagent.model.architecture import read_architecture
from ppagent.model.hardware import Card, find_card
from ppagent.model.levels import Level, levels_from_bench
from ppagent.model.roofline import Roofline
from ppagent.model.whatif import Server, Settings
from ppagent.sglang.layers import default_split
from ppagent.sglang.versions import parse_version

_PP = ("--pipeline-parallel-size", "--pp-size")
_TP = ("--tensor-parallel-size", "--tp-size")
_GRAPH_OFF = ("--disable-cuda-graph", "--disable-decode-cuda-graph")
_PARTITION = "SGLANG_PP_LAYER_PARTITION"
_LIMIT = ("--pp-max-micro-batch-size", "--max-micro-batch-size")


def read_server(folder: Path) -> Server:
    """The server recorded in `folder`. Raises UserError where no load level or no launch command was recorded."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a recording's folder.", "Give a folder, or --stages for a ring by numbers.")
    host = next(iter(sorted((folder / "hosts").glob("*"))), folder)
    flags, env = _launch(host / "launch.txt")
    stages = _number(flags, _PP) or 1
    levels = _levels(folder / "bench.jsonl")
    version = parse_version(_text(host / "sglang_version.txt"))
    roofline = _roofline(folder, host, _number(flags, _TP) or 1)
    split = None
    if roofline is not None:
        split = default_split(len(roofline.architecture.layers), stages, version)
    if _PARTITION in env:
        split = tuple(_whole(count, _PARTITION) for count in env[_PARTITION].split(","))
    now = Settings(
        slot_limit=_number(flags, _LIMIT),
        async_depth=_number(flags, ("--pp-async-batch-depth",)) or 0,
        graph=not any(flag in flags for flag in _GRAPH_OFF) and flags.get("--device") != "cpu",
        split=split,
    )
    return Server(levels, stages, now, roofline, shared_host=flags.get("--device") == "cpu")


def _levels(path: Path) -> tuple[Level, ...]:
    try:
        rows = [json.loads(line) for line in _text(path).splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise UserError(f"{path} is not JSON, one object a line: {error}.", "Correct or remove the line.") from error
    levels = levels_from_bench(row for row in rows if isinstance(row, dict))
    if not levels:
        raise UserError(
            "No load level was recorded.",
            "Add a bench.jsonl with two or three concurrencies, or give --stages and --stage-ms.",
            ExitStatus.NOT_ENOUGH_EVIDENCE,
        )
    return levels


def _launch(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Flags and environment assignments of a launch command; a switch has the value ""."""
    words = shlex.split(_text(path))
    if not words:
        raise UserError("No launch command was recorded.", "Add launch.txt, or give --stages for a ring by numbers.")
    env = dict(word.split("=", 1) for word in words if re.match(r"[A-Z][A-Z0-9_]*=", word))
    flags: dict[str, str] = {}
    for index, word in enumerate(words):
        if not word.startswith("--"):
            continue
        name, _, value = word.partition("=")
        following = words[index + 1] if index + 1 < len(words) else ""
        flags[name.replace("_", "-")] = value or ("" if following.startswith("--") else following)
    return flags, env


def _roofline(folder: Path, host: Path, tp: int) -> Roofline | None:
    config, card = _json(host / "model_config.json"), _card(folder, host)
    if config is None or card is None:
        return None
    return Roofline(read_architecture(config), card, tp)


def _card(folder: Path, host: Path) -> Card | None:
    table = host / "gpus.csv"
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, skipinitialspace=True):
                return find_card(row.get("name") or "")
    stack = re.search(r"^\s*gpus:\s*(.+)$", _text(folder / "incident.yaml"), re.MULTILINE)
    return find_card(stack.group(1)) if stack else None


def _json(path: Path) -> Mapping[str, Any] | None:
    if not path.is_file():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    return document if isinstance(document, Mapping) else None


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _number(flags: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    return next((_whole(flags[name], name) for name in names if flags.get(name)), None)


def _whole(text: str, name: str) -> int:
    if not text.strip().isdigit():
        raise UserError(f"{name} in the launch command is no whole number: {text!r}.", "Correct launch.txt.")
    return int(text)
