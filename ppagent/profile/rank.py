"""What one rank did in its trace: how long its card computed, waited or idled, and what the host did meanwhile."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, Any, TypeGuard

from ppagent.errors import ToolError
from ppagent.profile.events import read_events
from ppagent.profile.kernels import Kind, call_kind, kernel_kind
from ppagent.profile.spans import Cover, Span, Spans
from ppagent.profile.steps import StepTally, step_tally
from ppagent.sglang.profiling import MARKS, RUN, SCHEDULING, Step, parse_step

LATEST_US = 1e16
LONGEST_US = 1e11
MOST_MARKS = 1_000_000
"""More than any profile of some steps holds, and still bounded."""
FEWEST_STEPS = 3
COUNTED = ("kernel", "user_annotation", "cuda_runtime", "cuda_driver", "hip_runtime")
"""Categories of events that count. A mark of the host comes again as `gpu_user_annotation`, on the card's time."""

_kernel = lru_cache(8192)(kernel_kind)
_call = lru_cache(1024)(call_kind)


@dataclass(frozen=True)
class RankSummary:
    """One rank over its window: from the first step's start to the last one's, so that only whole periods count.

    Times in ms. Busy, waiting, inside and outside make up the window. What cannot be told without marks is None.
    """

    window_ms: float
    steps: int
    kernels: int
    busy_ms: float = 0.0
    """A kernel ran that neither sends nor receives between stages."""
    collectives_ms: float = 0.0
    """The part of it with nothing but all-reduces and their like."""
    waiting_ms: float = 0.0
    """Nothing ran but sends and receives, which spin until the other stage is there."""
    inside_ms: float | None = None
    """Nothing ran while the host was in a forward: it could not launch fast enough."""
    outside_ms: float | None = None
    """Nothing ran while the host was elsewhere."""
    scheduling_ms: float | None = None
    """The part of it in which the host chose the next batch or worked on a result; None without the loop's marks."""
    host_ms: Mapping[str, float] = field(default_factory=dict)
    """By mark: how long the host was in it, whatever the card did."""
    tally: StepTally = field(default_factory=StepTally)
    modes: Mapping[str, int] = field(default_factory=dict)
    """Forwards by mode, where the marks name it."""
    global_rank: int | None = None
    """Rank among all processes of the deployment, as torch.distributed has it."""
    devices: tuple[str, ...] = ()
    unread: int = 0
    """Events without a time that can be one."""


def read_rank(packed: IO[bytes], name: str) -> RankSummary:
    """Reads a rank's trace, as it comes. Raises ToolError where it is none, or is not whole."""
    reader = _Reader()
    for event in read_events(packed, name, reader.header):
        reader.add(event)
    if not reader.took_time:
        raise ToolError(f"{name} holds no event that takes time")
    return reader.summary()


class _Reader:
    """Sorts events as they come; keeps times only."""

    def __init__(self) -> None:
        self.took_time = False
        self._first: float | None = None
        self._busy, self._collectives, self._waiting = Spans(), Spans(), Spans()
        self._working = Spans()
        self._marks: dict[str, Spans] = {}
        self._steps: list[tuple[int, int, Step]] = []
        self._launches, self._graphs = array("q"), array("q")
        self._devices: Counter[str] = Counter()
        self._global_rank: int | None = None
        self._unread = 0
        self._marked = 0

    def header(self, name: str, value: object) -> None:
        rank = value.get("rank") if name == "distributedInfo" and isinstance(value, dict) else None
        if isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < 1 << 20:
            self._global_rank = rank

    def add(self, event: Mapping[str, Any]) -> None:
        if event.get("ph") != "X":
            return
        self.took_time = True
        name, category = event.get("name"), event.get("cat")
        if category not in COUNTED or not isinstance(name, str):
            return
        span = self._span(event)
        if span is None:
            self._unread += 1
            return
        match category:
            case "kernel":
                self._add_kernel(name, span, event.get("args"))
            case "user_annotation":
                self._add_mark(name, span)
            case _:
                self._add_call(name, span)

    def _span(self, event: Mapping[str, Any]) -> Span | None:
        """Start and end, ns from the first event."""
        at, took = event.get("ts"), event.get("dur", 0)
        if not _is_time(at, LATEST_US) or not _is_time(took, LONGEST_US) or took < 0:
            return None
        if self._first is None:
            self._first = at
        start = round((at - self._first) * 1000)
        return start, start + round(took * 1000)

    def _add_kernel(self, name: str, span: Span, args: object) -> None:
        kind = _kernel(name[:400])
        match kind:
            case Kind.WAIT:
                self._waiting.add(*span)
            case Kind.COLLECTIVE:
                self._collectives.add(*span)
            case _:
                self._working.add(*span)
        device = args.get("device") if isinstance(args, dict) else None
        if isinstance(device, int) and len(self._devices) < 64:
            self._devices[str(device)] += 1

    def _add_call(self, name: str, span: Span) -> None:
        match _call(name[:200]):
            case Kind.LAUNCH:
                self._launches.append(span[0])
            case Kind.GRAPH:
                self._graphs.append(span[0])

    def _add_mark(self, name: str, span: Span) -> None:
        step = parse_step(name)
        if step is None and name not in MARKS:
            return
        self._marked += 1
        if self._marked > MOST_MARKS:
            raise ToolError(f"the trace holds more than {MOST_MARKS} marked stretches: it is of more than some steps")
        if step is not None:
            self._steps.append((*span, step))
        else:
            self._marks.setdefault(name, Spans()).add(*span)

    def summary(self) -> RankSummary:
        forwards = self._forwards()
        window = _window(forwards) or self._extent()
        kernels = len(self._working) + len(self._collectives) + len(self._waiting)
        marks = {name: spans.cover().within(window) for name, spans in self._marks.items()}
        parts = _Parts(self._working, self._collectives, self._waiting, window, kernels)
        inside = Cover(forwards).within(window) if forwards else None
        scheduling = _joined([marks[name] for name in SCHEDULING if name in marks]) if RUN in marks else None
        return RankSummary(
            _ms(window[1] - window[0]),
            max(0, len(forwards) - 1),
            kernels,
            busy_ms=_ms(parts.busy.total),
            collectives_ms=_ms(parts.collectives.total),
            waiting_ms=_ms(parts.waiting.total),
            inside_ms=None if inside is None else _ms(parts.idle.shared(inside).total),
            outside_ms=None if inside is None else _ms(parts.idle.without(inside).total),
            scheduling_ms=None if scheduling is None else _ms(parts.idle.shared(scheduling).total),
            host_ms={name: _ms(cover.total) for name, cover in marks.items()},
            tally=step_tally(forwards, sorted(self._steps, key=_start), self._launches, self._graphs),
            modes=Counter(step.mode for _, _, step in self._steps),
            global_rank=self._global_rank,
            devices=tuple(sorted(self._devices)),
            unread=self._unread,
        )

    def _forwards(self) -> list[Span]:
        """The host's forwards: what the loop marks, else what the model runner marks."""
        runs = list(self._marks[RUN]) if RUN in self._marks else []
        return runs or sorted((start, end) for start, end, _ in self._steps)

    def _extent(self) -> Span:
        """From the first kernel to the end of the last one; without kernels, of the marks."""
        for group in ([self._working, self._collectives, self._waiting], list(self._marks.values())):
            cover = _joined([spans.cover() for spans in group])
            spans = list(cover)
            if spans:
                return spans[0][0], spans[-1][1]
        return 0, 0


class _Parts:
    """The window, taken apart."""

    def __init__(self, working: Spans, collectives: Spans, waiting: Spans, window: Span, kernels: int) -> None:
        computing = working.cover().within(window)
        together = collectives.cover().within(window)
        self.busy = computing.joined(together)
        self.collectives = together.without(computing)
        self.waiting = waiting.cover().within(window).without(self.busy)
        self.idle = Cover([window]).without(self.busy).without(self.waiting) if kernels else Cover()


def _window(forwards: Sequence[Span]) -> Span | None:
    """From the first start to the last one; None where there are too few to make whole periods."""
    return (forwards[0][0], forwards[-1][0]) if len(forwards) >= FEWEST_STEPS else None


def _joined(covers: Sequence[Cover]) -> Cover:
    found = Cover()
    for cover in covers:
        found = found.joined(cover)
    return found


def _is_time(value: object, most: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most


def _start(step: tuple[int, int, Step]) -> int:
    return step[0]


def _ms(ns: int) -> float:
    return ns / 1e6
