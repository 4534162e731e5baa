"""Which of the traces at hand belong together, and which stage each is of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ppagent.profile.rank import RankSummary
from ppagent.sglang.profiling import TraceName, parse_trace_name

PHASES = ("DECODE", "", "EXTEND")
"""Where a profile was taken by phase, decoding is what is asked about."""

MOST_NAMED = 4


@dataclass(frozen=True)
class File:
    """A trace somewhere."""

    host: str
    name: str
    """Of the artifact: traces/..."""
    known: TraceName


@dataclass(frozen=True)
class Chosen:
    """One profile's traces, and what was left out, in sentences."""

    files: tuple[File, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shape:
    """Parallel sizes of the server, None where they are unknown."""

    stages: int | None = None
    tp: int | None = None


@dataclass(frozen=True)
class Placed:
    """The ranks that were read, each with its stage."""

    ranks: tuple[tuple[int, RankSummary], ...]
    missing: tuple[int, ...] = ()
    overwritten: bool = False
    """Whether the names leave the stage out though there are several: each host keeps what was written last."""


def choose(found: Iterable[tuple[str, str]]) -> Chosen:
    """The traces of the latest profile among (host, artifact name)."""
    files, merged = [], []
    for host, name in found:
        known = parse_trace_name(name.rpartition("/")[2])
        if known is None:
            merged.append(name)
        else:
            files.append(File(host, name, known))
    remarks = [f"{name} is left out: no single rank wrote it" for name in merged[:MOST_NAMED]]
    if len(merged) > MOST_NAMED:
        remarks.append(f"so are {len(merged) - MOST_NAMED} more")
    if not files:
        return Chosen((), tuple(remarks))
    latest = max(file.known.profile for file in files)
    together = [file for file in files if file.known.profile == latest]
    older = len({file.known.profile for file in files}) - 1
    if older:
        remarks.append(f"traces of {older} earlier profile{'s' if older > 1 else ''} are left out")
    phases = {file.known.phase for file in together}
    phase = next((phase for phase in PHASES if phase in phases), min(phases))
    return Chosen(tuple(file for file in together if file.known.phase == phase), tuple(remarks))


def place(read: Sequence[tuple[File, RankSummary]], shape: Shape) -> Placed:
    """The stage of each trace: by its name, else by its rank among all processes."""
    named = {file.known.pp for file, _ in read if file.known.pp is not None}
    tp = shape.tp or 1 + max((file.known.tp for file, _ in read), default=0)
    world = max((rank.world or 0 for _, rank in read), default=0)
    stages = shape.stages or max(1 + max(named, default=0), world // tp)
    overwritten = not named and stages > 1
    ranks = tuple((_stage(file, rank, tp, stages), rank) for file, rank in read)
    missing = tuple(sorted(set(range(stages)) - {stage for stage, _ in ranks}))
    return Placed(ranks, missing, overwritten)


def _stage(file: File, rank: RankSummary, tp: int, stages: int) -> int:
    if file.known.pp is not None:
        return file.known.pp
    if stages > 1 and rank.global_rank is not None:
        return min(stages - 1, rank.global_rank // tp)
    return 0
