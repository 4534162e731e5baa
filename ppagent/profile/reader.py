"""One rank's trace, sorted as it comes and summed up at its end: only times are kept."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import IO, Any, TypeGuard

from ppagent.errors import ToolError
from ppagent.profile.events import read_events
from ppagent.profile.kernels import Kind, call_kind, kernel_kind
from ppagent.profile.quote import Quote
from ppagent.profile.rank import BUSY, COLLECTIVES, INSIDE, OUTSIDE, WAITING, RankSummary
from ppagent.profile.rank import SCHEDULING as SCHEDULING_GAP
from ppagent.profile.spans import Cover, Span, Spans
from ppagent.profile.steps import step_tally
from ppagent.sglang.profiling import (
    MARKS,
    OF_THE_SCHEDULER,
    RUN,
    SCHEDULER_MARKS,
    SCHEDULING,
    Step,
    parse_step,
)

LATEST_US = 1e16
LONGEST_US = 1e11
LATEST_NS = 1e19
MOST_MARKS = 1_000_000
"""More than any profile of some steps holds, and still bounded."""
FEWEST_STEPS = 3
MOST_RANKS = 1 << 20
COUNTED = ("kernel", "user_annotation", "cuda_runtime", "cuda_driver", "hip_runtime")
"""Categories of events that count. A mark of the host comes again as `gpu_user_annotation`, on the card's time."""

_kernel = lru_cache(8192)(kernel_kind)
_call = lru_cache(1024)(call_kind)


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
        self._base = 0
        self._busy, self._collectives, self._waiting = Spans(), Spans(), Spans()
        self._working = Spans()
        self._marks: dict[str, Spans] = {}
        self._steps: list[tuple[int, int, Step]] = []
        self._launches, self._graphs = array("q"), array("q")
        self._devices: Counter[str] = Counter()
        self._world: dict[str, int] = {}
        self._quote = Quote()
        self._unread = 0
        self._marked = 0

    def header(self, name: str, value: object) -> None:
        if name == "baseTimeNanoseconds" and _is_time(value, LATEST_NS):
            self._base = round(value)
        if name != "distributedInfo" or not isinstance(value, dict):
            return
        for key in ("rank", "world_size"):
            number = value.get(key)
            if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MOST_RANKS:
                self._world[key] = number

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
        self._quote.offer(0, name)
        match _kernel(name[:400]):
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
                self._quote.offer(1, name)
                self._launches.append(span[0])
            case Kind.GRAPH:
                self._quote.offer(3, name)
                self._graphs.append(span[0])

    def _add_mark(self, name: str, span: Span) -> None:
        step = parse_step(name)
        if step is None and name not in MARKS and name not in SCHEDULER_MARKS:
            return
        self._marked += 1
        if self._marked > MOST_MARKS:
            raise ToolError(f"the trace holds more than {MOST_MARKS} marked stretches: it is of more than some steps")
        if step is not None:
            self._quote.offer(4 + step.batch if step.decodes else 2, name)
            self._steps.append((*span, step))
        else:
            self._quote.offer(2, name)
            self._marks.setdefault(name, Spans()).add(*span)

    def summary(self) -> RankSummary:
        self._marks = _of_one_loop(self._marks)
        forwards = self._forwards()
        marked = len(forwards) >= FEWEST_STEPS
        edges = [start for start, _ in forwards] if marked else list(self._extent())
        kernels = len(self._working) + len(self._collectives) + len(self._waiting)
        return RankSummary(
            array("q", (self._origin + edge for edge in edges)),
            self._parts(forwards, edges),
            marked,
            kernels,
            tally=step_tally(forwards, sorted(self._steps, key=_start), self._launches, self._graphs),
            modes=Counter(step.mode for _, _, step in self._steps),
            global_rank=self._world.get("rank"),
            world=self._world.get("world_size"),
            devices=tuple(sorted(self._devices)),
            unread=self._unread,
            quote=self._quote.text,
        )

    def _parts(self, forwards: Sequence[Span], edges: Sequence[int]) -> dict[str, Sequence[int]]:
        """What each period was spent on, by the names of the parts and of the marks. Lets go of what it has used."""
        marks = {name: spans.cover() for name, spans in self._marks.items()}
        found: dict[str, Sequence[int]] = {name: cover.between(edges) for name, cover in marks.items()}
        busy, together = self._working.taken(), self._collectives.taken()
        found[COLLECTIVES] = together.without(busy).between(edges)
        busy = busy.joined(together) if together else busy
        found[BUSY] = busy.between(edges)
        waiting = self._waiting.taken().without(busy)
        found[WAITING] = waiting.between(edges)
        busy = busy.joined(waiting) if waiting else busy
        idle = busy.gaps()
        if forwards:
            inside = Cover(forwards)
            found[INSIDE] = idle.shared(inside).between(edges)
            found[OUTSIDE] = idle.without(inside).between(edges)
        if RUN in marks:
            scheduling = _joined([marks[name] for name in SCHEDULING if name in marks])
            found[SCHEDULING_GAP] = idle.shared(scheduling).between(edges)
        return found

    @property
    def _origin(self) -> int:
        """The moment from which times are counted here, on the host's clock."""
        return self._base + round((self._first or 0.0) * 1000)

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


def _of_one_loop(marks: Mapping[str, Spans]) -> dict[str, Spans]:
    """The loop's own marks; where it has none, those of the scheduler's methods under the same names."""
    own = {name: spans for name, spans in marks.items() if name not in SCHEDULER_MARKS}
    if RUN in own:
        return own
    return own | {name.removeprefix(OF_THE_SCHEDULER): marks[name] for name in marks if name in SCHEDULER_MARKS}


def _joined(covers: Sequence[Cover]) -> Cover:
    found = Cover()
    for cover in covers:
        found = found.joined(cover)
    return found


def _is_time(value: object, most: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -most <= value <= most


def _start(step: tuple[int, int, Step]) -> int:
    return step[0]
