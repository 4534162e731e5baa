"""One launch of a server while its log is read: facts, troubles and batch lines, and the stretch they amount to."""

from collections.abc import Callable
from datetime import datetime
from functools import cache

from ppagent.sglang.logs.decode_lane import DecodeLane
from ppagent.sglang.logs.events import TroubleLog, TroubleScanner, event_of
from ppagent.sglang.logs.lanes import Lanes
from ppagent.sglang.logs.marks import any_of
from ppagent.sglang.logs.prefix import LogLine, Ranks, parse_line
from ppagent.sglang.logs.startup import STARTUP_FACTS
from ppagent.sglang.logs.startup_facts import ArgsFact, Fact, Startup
from ppagent.sglang.logs.summary import Event, Stretch
from ppagent.sglang.logs.trouble import TroubleKind, first_fitting, trouble_kinds

MOST_STRETCHES = 16
MOST_FACTS = 8192
_GRAVE = ("error", "fatal")


@cache
def _telling() -> Callable[[bytes], object | None]:
    """Finds whether a line can say anything at all: most that are no batch lines do not."""
    return any_of([*(mark for mark, _ in STARTUP_FACTS), *(mark for kind in trouble_kinds() for mark in kind.marks)])


class Launch:
    """Takes the lines of one launch. `begun` tells whether another `server_args=` would begin the next one."""

    def __init__(self, held: list[Event] | None = None) -> None:
        self.lanes = Lanes()
        self._scanner = TroubleScanner()
        self._tells = _telling()
        self._troubles = TroubleLog(self._decodes)
        self._facts: list[Fact] = []
        self._dropped = 0
        self._has_args = False
        self._last = b""
        self._front_end_at: datetime | None = None
        # What a launcher says before its arguments belongs to the launch that follows; see `following`.
        self._held = held or []

    @property
    def begun(self) -> bool:
        """Whether this launch has its arguments or batch lines already."""
        return self._has_args or bool(self.lanes)

    @property
    def half_lines(self) -> int:
        """Batch lines of the counted ranks that were cut short."""
        cut = sum(decode.half_lines + prefill.half_lines for decode, prefill in self.lanes.counters)
        return cut + self.lanes.half_lines

    def following(self) -> "Launch":
        """The next launch, which gets the remarks that stand after the last line of a rank."""
        last = self.lanes.last_number()
        moved = [event for event in self._held if event.line > last]
        self._held = [event for event in self._held if event.line <= last]
        return Launch(moved)

    def heard(self, line: bytes) -> None:
        """Note a prefixed line's time."""
        self._last = line[:128]

    def heard_at_last(self, line: bytes) -> None:
        """Note the last HTTP access line: the front end may outlive its schedulers."""
        at = parse_line(line[:256]).at
        if at is not None:
            self._front_end_at = at

    def take(self, line: bytes, raw: bytes, number: int) -> None:
        """Take a line that is no batch line."""
        prefixed = line[:1] == b"[" and line[1:3].isdigit()
        if prefixed:
            self.heard(line)
        if self._tells(line) is None:
            return
        readers = [read for mark, read in STARTUP_FACTS if mark in line]
        if readers:
            parsed = parse_line(line)
            if self._fact(parsed, readers):
                return
        kinds = self._scanner.marked(line)
        if kinds:
            self._trouble(parse_line(line), kinds, raw, number)

    def _fact(self, parsed: LogLine, readers: list[Callable[[LogLine], Fact | None]]) -> bool:
        """Read a start-up fact; True where the line cannot be a trouble as well."""
        fact = next((fact for read in readers if (fact := read(parsed)) is not None), None)
        if fact is None:
            return False
        self._has_args = self._has_args or isinstance(fact, ArgsFact)
        if len(self._facts) < MOST_FACTS:
            self._facts.append(fact)
        else:
            self._dropped += 1
        return isinstance(fact, ArgsFact)

    def _trouble(self, parsed: LogLine, kinds: list[TroubleKind], raw: bytes, number: int) -> None:
        found = first_fitting(kinds, parsed.message)
        if found is None:
            return
        quoted = LogLine(parsed.at, parsed.ranks, parsed.message, raw.rstrip(b"\r\n").decode("utf-8", "replace"))
        event = event_of(found, quoted, parsed.ranks if parsed.at is not None else self._speaker(), number)
        if event.ranks.tagged or found.kind.severity in _GRAVE:
            self._flush()
            self._troubles.add(event)
        else:
            self._held.append(event)
            if len(self._held) > MOST_FACTS:
                self._flush()

    def _speaker(self) -> Ranks:
        """Who wrote the last line with a prefix: free text after it is most likely its traceback."""
        return parse_line(self._last).ranks

    def _flush(self) -> None:
        for event in self._held:
            self._troubles.add(event)
        self._held = []

    def _decodes(self) -> list[DecodeLane]:
        return [decode for decode, _ in self.lanes.counters]

    def stretch(self) -> Stretch:
        """What this launch amounts to."""
        self._flush()
        decodes = [decode.stats() for decode, _ in self.lanes.counters]
        prefills = [prefill.stats() for _, prefill in self.lanes.counters]
        seen = self.lanes.last_seen()
        times = [self._front_end_at, parse_line(self._last).at, *(each.at for each in seen)]
        return Stretch(
            startup=Startup(tuple(self._facts), self._dropped),
            decode=tuple(stats for stats in decodes if stats is not None),
            prefill=tuple(stats for stats in prefills if stats is not None),
            troubles=self._troubles.tallies(),
            last_seen=seen,
            occupancy_percent=self.lanes.occupancy_percent(),
            last_at=max((at for at in times if at is not None), default=None),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        stages = sorted({decode.ranks.pp for decode, _ in self.lanes.counters if decode.ranks.pp})
        if not stages:
            return ()
        return (f"Stage 0 is not in this log: stage {stages[0]} was counted in its place.",)
