"""The part of a recording that `ppagent predict` needs, read into the model's terms."""

from collections.abc import Mapping
from typing import Any

from ppagent.cli.recorded import first_gpu, open_recorded, recorded, recorded_object, recorded_version, shared
from ppagent.errors import ExitStatus, UserError
from ppagent.evidence.json_text import read_json
from ppagent.model.architecture import read_architecture
from ppagent.model.hardware import Card, find_card
from ppagent.model.levels import Level, levels_from_bench
from ppagent.model.roofline import Roofline
from ppagent.model.whatif import Server, Settings
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.layers import default_split, parse_partition
from ppagent.sglang.versions import parse_version
from ppagent.targets.target import Artifact, Shared, Target

MOST_RANKS = 1024
_GRAPH_OFF = ("disable_cuda_graph", "disable_decode_cuda_graph")
_PARTITION = "SGLANG_PP_LAYER_PARTITION"
_LIMIT = ("pp_max_micro_batch_size", "max_micro_batch_size")


def read_server(text: str) -> Server:
    """The server that the recording `text` is of. Raises UserError where no load level or no launch was recorded."""
    target = open_recorded(text, "Give a folder, or --stages for a ring by numbers.")
    host = target.hosts[0] if target.hosts else ""
    launch = _launch(target, host)
    stages = _number(launch, "pp_size", most=MOST_RANKS) or 1
    levels = _levels(target)
    roofline = _roofline(target, host, _number(launch, "tp_size", most=MOST_RANKS) or 1)
    on_cpu = launch.args.get("device") == "cpu"
    now = Settings(
        slot_limit=next((limit for name in _LIMIT if (limit := _number(launch, name)) is not None), None),
        async_depth=_number(launch, "pp_async_batch_depth", least=0, most=MOST_RANKS) or 0,
        graph=not any(launch.args.get(name) for name in _GRAPH_OFF) and not on_cpu,
        split=_split(launch, roofline, stages, recorded_version(target, host)),
    )
    return Server(levels, stages, now, roofline, shared_host=on_cpu)


def _levels(target: Target) -> tuple[Level, ...]:
    rows: list[Mapping[str, object]] = []
    for number, line in enumerate(shared(target, Shared.BENCH).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = read_json(line)
        except ValueError as error:
            raise UserError(f"bench.jsonl, line {number} is no JSON object.", "Correct or remove the line.") from error
        if isinstance(row, dict):
            rows.append(row)
    levels = levels_from_bench(rows)
    if not levels:
        raise UserError(
            "No load level was recorded.",
            "Add a bench.jsonl with two or three concurrencies, or give --stages and --stage-ms.",
            ExitStatus.NOT_ENOUGH_EVIDENCE,
        )
    return levels


def _launch(target: Target, host: str) -> LaunchCommand:
    try:
        return parse_launch(recorded(target, host, Artifact.LAUNCH), _catalogue(recorded_version(target, host)))
    except NoLaunchCommand as error:
        advice = "Add launch.txt, or give --stages for a ring by numbers."
        raise UserError("No launch command was recorded.", advice) from error


def _catalogue(version: str) -> Catalogue | None:
    """The flags of the recorded version; None where it is unknown, so that they are read by their spelling."""
    try:
        return catalogue_of(version) if version else None
    except UserError:
        return None


def _split(launch: LaunchCommand, roofline: Roofline | None, stages: int, version: str) -> tuple[int, ...] | None:
    """Layers of each stage: as the launch says, else by the version's rule where the model is known."""
    asked = launch.env.get(_PARTITION)
    if asked is not None:
        split = parse_partition(asked)
        if len(split) != stages or min(split) < 0 or sum(split) < 1:
            raise UserError(f'{_PARTITION}="{asked}" does not fit {stages} stages.', "Correct launch.txt.")
        return split
    if roofline is None:
        return None
    return default_split(len(roofline.architecture.layers), stages, parse_version(version))


def _roofline(target: Target, host: str, tp: int) -> Roofline | None:
    config, card = recorded_object(target, host, Artifact.MODEL_CONFIG), _card(target, host)
    if not config or card is None:
        return None
    return Roofline(read_architecture(config), card, tp)


def _card(target: Target, host: str) -> Card | None:
    name = first_gpu(recorded(target, host, Artifact.GPUS)) or _stated_gpus(shared(target, Shared.INCIDENT))
    return find_card(name) if name else None


def _stated_gpus(incident: str) -> str:
    """The cards as the recording's head names them."""
    lines = (line.strip() for line in incident.splitlines())
    return next((line.removeprefix("gpus:").strip() for line in lines if line.startswith("gpus:")), "")


def _number(launch: LaunchCommand, name: str, least: int = 1, most: int = 10**9) -> int | None:
    value: Any = launch.args.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise UserError(f"{name} in the launch command is no whole number from {least}: {value!r}.", "Correct it.")
    return value
