"""One card at one moment, out of a row of nvidia-smi: its numbers, if it works, what throttles it, if it is gone."""

import re
from dataclasses import dataclass
from datetime import datetime

from ppagent.evidence.kept import LARGEST_NUMBER
from ppagent_tools.reading import CsvRow, number

BUSY_PERCENT = 10.0
BUSY_SHARE_OF_LIMIT = 0.22
"""Loaded cards without work draw 12-20 % of their limit (seen: 85 of 600 W, 110 of 700 W), working ones more."""
IDLE_SHARE_OF_LIMIT = 0.5
"""Small cards that hold a model keep their clocks up without work (seen: an L4 at 34 of 72 W and 0 %), so that power
below this share does not speak against a utilisation of next to nothing."""

_REASONS = {0x4: "sw_power_cap", 0x8: "hw_slowdown", 0x20: "sw_thermal", 0x40: "hw_thermal", 0x80: "hw_power_brake"}
"""Bits of NVML's clocks event reasons that mean a throttle (`nvml.h`); idle and set clocks are none."""
_REASON_WORDS = {
    "sw_power_cap": r"sw[ _]power[ _]cap",
    "hw_slowdown": r"hw[ _]slowdown",
    "sw_thermal": r"sw[ _]thermal(?:[ _]slowdown)?",
    "hw_thermal": r"hw[ _]thermal(?:[ _]slowdown)?",
    "hw_power_brake": r"hw[ _]power[ _]brake(?:[ _]slowdown)?",
}
_GONE = re.compile(r"\[GPU (?:is lost|requires reset)\]", re.IGNORECASE)
_UNTOLD = re.compile(r"\[(?:N/A|Not Supported|Not Found|Insufficient Permissions)\]|", re.IGNORECASE)
"""Cells of a sound card that does not tell, or not to everybody."""
_ALIASES = {
    "power.draw": ("power.draw", "power.draw.average", "power.draw.instant"),
    "clocks.sm": ("clocks.sm", "clocks.gr"),
    "clocks.max.sm": ("clocks.max.sm", "clocks.max.gr"),
    "pcie.link.gen.current": ("pcie.link.gen.current", "pcie.link.gen.gpucurrent"),
}
"""Other columns of a query that tell the same, the best first; the graphics clock of these cards is that of the SMs."""
_NOT_ASKED = frozenset(("timestamp", "index", "uuid", "pci.bus_id", "driver_version", "count", "pasted"))
"""Columns that are told of a lost card too."""
_MOST_W = 10_000.0
"""More than any card draws."""
_TIME_FORMATS = ("%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M:%S")


@dataclass(frozen=True)
class Sample:
    """One GPU at one moment."""

    index: str
    row: CsvRow

    def value(self, *columns: str) -> float | None:
        """The first of these columns that holds a number that a card can tell: none is below zero, no share above the
        whole, and a card without power answers nothing (a virtual one says 0 W for "not known")."""
        asked = [alias for column in columns for alias in _ALIASES.get(column, (column,))]
        numbers = ((column, number(self.row.cells.get(column))) for column in asked)
        return next((value for column, value in numbers if value is not None and _can_be(column, value)), None)

    @property
    def time(self) -> datetime | None:
        """When the row was sampled; None where it does not say."""
        return time_of(self.row.cells.get("timestamp", ""))

    @property
    def excerpt(self) -> str:
        """The row as it stands; of a pasted table, the row the user has."""
        return self.row.cells.get("pasted") or self.row.line

    @property
    def busy(self) -> bool | None:
        """Whether the card is at work at that moment; None where neither use nor power is known."""
        used, power = self.value("utilization.gpu"), self.value("power.draw")
        limit = self.value("power.limit", "power.default_limit")
        known = [used >= BUSY_PERCENT] if used is not None else []
        enough = BUSY_SHARE_OF_LIMIT if used is None else IDLE_SHARE_OF_LIMIT
        known += [power >= enough * limit] if power is not None and limit else []
        return any(known) if known else None

    @property
    def gone(self) -> str:
        """What is said in place of every value of a card that no longer answers; empty for one that does. A single
        cell may be an error on a sound card."""
        asked = {column: cell for column, cell in self.row.cells.items() if column not in _NOT_ASKED}
        told = set(asked.values())
        alike = len(told) == 1 and (len(asked) > 1 or "name" in asked)
        said = next((cell for cell in told if _GONE.fullmatch(cell)), "") or (told.pop() if alike else "")
        return said[1:-1] if re.fullmatch(r"\[[^\]]+\]", said) and not _UNTOLD.fullmatch(said) else ""

    @property
    def throttles(self) -> tuple[str, ...] | None:
        """Throttle reasons in force; None where the row does not say."""
        cells = self.row.cells
        text = next((cells[c] for c in cells if re.fullmatch(r"clocks_(?:event|throttle)_reasons\.active", c)), "")
        if re.fullmatch(r"0x[0-9a-fA-F]+", text):
            return tuple(name for bit, name in _REASONS.items() if int(text, 16) & bit)
        single = {
            name: value
            for name, words in _REASON_WORDS.items()
            for column, value in cells.items()
            if re.fullmatch(rf"clocks_(?:event|throttle)_reasons\.{words}", column)
        }
        if single:
            return tuple(name for name, value in single.items() if value.lower() == "active")
        if not text or text.upper() in ("N/A", "[N/A]"):
            return None
        return tuple(name for name, words in _REASON_WORDS.items() if re.search(words, text, re.IGNORECASE))


def _can_be(column: str, value: float) -> bool:
    if column.startswith("power."):
        return 0 < value < _MOST_W
    return 0 <= value <= (100 if column.startswith("utilization.") else LARGEST_NUMBER)


def time_of(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).replace(tzinfo=None)
    except ValueError:
        pass
    for form in _TIME_FORMATS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None
