"""A healthy deployment under load, and a case as what differs from it.

A base serves its load well: slots filled, graphs replayed, no queue. A case names its base and only what is not so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ppagent_evals.writing.bench import Row, jsonl, measured, measured_over_ranks
from ppagent_evals.writing.gpus import Gpu, spread
from ppagent_evals.writing.incident import Answer, Incident, stack
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Server

Loads = Load | list[Load]


@dataclass(frozen=True)
class Base:
    """A deployment with nothing wrong. `gpus` and `model` are in words; power is that of each card under `load`."""

    server: Server
    load: Load
    gpus: str
    model: str
    utilization: float
    power_w: float
    topology: str
    load_s: float = 60.0
    """Seconds that loading the weights takes."""


@dataclass(frozen=True)
class Case:
    """An incident as its difference to a healthy base. What is not named is as it is there."""

    id: str
    base: Base
    title: str
    question: str
    tags: tuple[str, ...]
    answer: Answer
    at: str
    """Local time at which the log begins."""
    server: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the server that differ."""
    load: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the load that differ."""
    ranks: tuple[Mapping[str, Any], ...] = ()
    """Fields of the load of each data-parallel rank that differ further."""
    gpus: tuple[Gpu, ...] = ()
    """Cards of a node; none takes the base's power."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """Further lines of the start: `warnings`, `at_init`, `notes`, `draft`."""
    idle_s: float = 9.0
    """Seconds without a request before the load comes."""
    served_s: float = 24.0
    """Seconds of serving that the log shows."""
    after: Callable[[Scene], None] | None = None
    """What is written into each node's log after it served."""
    bench: Mapping[str, object] = field(default_factory=dict)
    """Fields of the benchmark row that differ."""
    more: Mapping[str, str] = field(default_factory=dict)
    """Further artifacts of the first node, `__` for a dot."""
    without: tuple[str, ...] = ()
    """Artifacts that were not recorded."""
    stated: tuple[str, ...] = ()
    origin: Literal["reconstructed", "synthetic"] = "synthetic"


def write(case: Case) -> Incident:
    """The incident with all its files."""
    nodes = [_node(case, index) for index in range(_server(case).nnodes)]
    row = _bench(case, nodes[0])
    hosts = {f"node{index}": _artifacts(case, scene) for index, scene in enumerate(nodes)}
    hosts["node0"] |= {name.replace("__", "."): text for name, text in case.more.items()}
    return Incident(
        case.id,
        case.title,
        case.question,
        case.origin,
        stack(nodes[0].server, case.base.gpus, case.base.model),
        case.tags,
        case.answer,
        hosts={host: _kept(files, case.without) for host, files in hosts.items()},
        files=_kept({"bench.jsonl": jsonl([row])}, case.without),
        stated=case.stated,
    )


def _server(case: Case) -> Server:
    return replace(case.base.server, **case.server)


def _loads(case: Case) -> Loads:
    common = replace(case.base.load, **case.load)
    return [replace(common, **own) for own in case.ranks] if case.ranks else common


def _node(case: Case, index: int) -> Scene:
    """One node's scene, served to the end of its log."""
    scene = Scene(f"{case.id}-{index}", replace(_server(case), node=index), case.at)
    scene.start(load_s=case.base.load_s, **case.start)
    if scene.schedulers and any(scheduler.ranks for scheduler in scene.schedulers):
        scene.serve(_loads(case), case.served_s, after_s=case.idle_s, scrape_every=case.served_s / 3)
    if case.after is not None:
        case.after(scene)
    return scene


def _bench(case: Case, scene: Scene) -> Row:
    """The client's row over a minute more of the same."""
    loads = _loads(case)
    scene.serve_unseen(loads, 60, scrape_every=30)
    each = loads if isinstance(loads, list) else [loads] * len(scene.done)
    if len(each) == 1:
        return {**measured(scene.done[0], each[0]), **case.bench}
    in_flight = sum(load.in_flight for load in each)
    return {**measured_over_ranks(scene.done, each[0], in_flight), **case.bench}


def _artifacts(case: Case, scene: Scene) -> dict[str, str]:
    base, server = case.base, scene.server
    cards = list(case.gpus) or spread(base.utilization, base.power_w, server.gpus_per_node)
    files = scene.host(gpus__csv=scene.gpus(cards), topology__txt=base.topology)
    if server.node == 0:
        files["server_info.json"] = scene.info()
        if "--enable-metrics" in server.flags:
            files |= scene.metrics()
    return files


def _kept(files: Mapping[str, str], without: tuple[str, ...]) -> dict[str, str]:
    return {name: text for name, text in files.items() if name not in without and name.split("/")[0] not in without}
