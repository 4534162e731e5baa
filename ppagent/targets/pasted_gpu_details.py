"""The long form, `nvidia-smi -q`, and the list, `nvidia-smi -L`, in pasted text: drivers 470 to 610."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ppagent.targets.pasted_gpu_rows import PASTED, Row, Seen, process
from ppagent.targets.pasted_sheet import Sheet

_LONGEST = 200
"""Characters of a line; the long form has far shorter ones."""
_LOG = re.compile(r"=+\s*NVSMI LOG\s*=+\s*")
_GPU = re.compile(r"(?P<indent>\s*)GPU (?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*")
_PAIR = re.compile(r"(?P<indent>\s*)(?P<key>\S[^:]*?)\s+:\s+(?P<value>.*?)\s*")
_SECTION = re.compile(r"(?P<indent>\s*)(?P<key>[A-Z][\w/ .-]*?)\s*")
_LISTED = re.compile(r"\s*GPU (\d+): (\S.*?) \(UUID: (GPU-[\w-]+)\)\s*")
_POWER = ("GPU Power Readings", "Power Readings")
_REASONS = ("Clocks Event Reasons", "Clocks Throttle Reasons")
_LINK = "PCI/GPU Link Info"
_COLUMNS: dict[str, tuple[str, ...]] = {
    "name": ("Product Name",),
    "uuid": ("GPU UUID",),
    "utilization.gpu": ("Utilization/Gpu", "Utilization/GPU"),
    "power.draw": tuple(
        f"{s}/{k}" for k in ("Power Draw", "Average Power Draw", "Instantaneous Power Draw") for s in _POWER
    ),
    "power.limit": tuple(
        f"{s}/{k}" for k in ("Current Power Limit", "Power Limit", "Enforced Power Limit") for s in _POWER
    ),
    "power.default_limit": tuple(f"{s}/Default Power Limit" for s in _POWER),
    "memory.used": ("FB Memory Usage/Used",),
    "memory.total": ("FB Memory Usage/Total",),
    "clocks.sm": ("Clocks/SM",),
    "clocks.max.sm": ("Max Clocks/SM",),
    "temperature.gpu": ("Temperature/GPU Current Temp",),
    "pcie.link.gen.current": (f"{_LINK}/PCIe Generation/Current",),
    "pcie.link.gen.max": (f"{_LINK}/PCIe Generation/Max",),
    "pcie.link.width.current": (f"{_LINK}/Link Width/Current", f"{_LINK}/Link Widths/Current"),
    "pcie.link.width.max": (f"{_LINK}/Link Width/Max", f"{_LINK}/Link Widths/Max"),
}
"""Where the long form says what a query has as a column, the best place first."""
_HELD = {
    "sw_power_cap": "SW Power Cap", "hw_slowdown": "HW Slowdown", "sw_thermal_slowdown": "SW Thermal Slowdown",
    "hw_thermal_slowdown": "HW Slowdown/HW Thermal Slowdown",
    "hw_power_brake_slowdown": "HW Slowdown/HW Power Brake Slowdown",
}  # fmt: skip


def take_details(sheet: Sheet) -> Seen:
    """Takes the lines of both from the sheet. Cards are counted in the order in which they stand."""
    listed = _take_list(sheet)
    numbers = list(_long_form(sheet))
    seen = Seen()
    for lines in _by_card(sheet.take(numbers)):
        _read_card(lines, seen)
    return seen if seen.rows else listed


def _take_list(sheet: Sheet) -> Seen:
    seen = Seen()
    for i, line in enumerate(sheet.lines):
        if sheet.is_free(i) and (card := _LISTED.fullmatch(line)):
            sheet.take([i])
            seen.rows.append({"index": card[1], "name": card[2], "uuid": card[3], PASTED: line.strip()})
    return seen


def _long_form(sheet: Sheet) -> Iterator[int]:
    """Numbers of its lines: from its head, or the bus of a card, to the first line that is of another kind."""
    inside = False
    for i, line in enumerate(sheet.lines):
        if not sheet.is_free(i):
            continue
        starts = bool(_LOG.fullmatch(line) or (_GPU.fullmatch(line) and _goes_on(sheet, i + 1)))
        inside = starts or (inside and (not line.strip() or _of_long_form(line)))
        if inside and line.strip():
            yield i


def _goes_on(sheet: Sheet, i: int) -> bool:
    return sheet.is_free(i) and _of_long_form(sheet.lines[i])


def _of_long_form(line: str) -> bool:
    return len(line) <= _LONGEST and bool(
        _PAIR.fullmatch(line) or _GPU.fullmatch(line) or (line.startswith("  ") and _SECTION.fullmatch(line))
    )


def _by_card(lines: list[str]) -> list[list[str]]:
    starts = [place for place, line in enumerate(lines) if _GPU.fullmatch(line)]
    return [lines[start:stop] for start, stop in pairwise([*starts, len(lines)])]


def _read_card(lines: list[str], seen: Seen) -> None:
    said = dict(_pairs(lines[1:]))
    index, bus = str(len(seen.rows)), lines[0].strip().removeprefix("GPU ")
    row: Row = {"index": index, "pci.bus_id": bus}
    for column, places in _COLUMNS.items():
        if value := next((said[place] for place in places if _told(said.get(place))), None):
            row[column] = value.removesuffix("x") if ".width." in column else value
    for name, place in _HELD.items():
        if value := next((said[f"{s}/{place}"] for s in _REASONS if f"{s}/{place}" in said), None):
            row[f"clocks_event_reasons.{name}"] = value
    seen.rows.append(row | {PASTED: lines[0].strip()})
    seen.processes += [process(index, *each) for each in _processes(lines)]


def _told(value: str | None) -> bool:
    return value is not None and value != "N/A"


def _pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Values by their path: sections are told by how far they stand in, and a value may have others under it."""
    above: list[tuple[int, str]] = []
    for line in lines:
        match = _PAIR.fullmatch(line) or _SECTION.fullmatch(line)
        if match is None:
            continue
        depth = len(match["indent"])
        above = [(d, key) for d, key in above if d < depth] + [(depth, match["key"])]
        if "value" in match.re.groupindex:
            yield "/".join(key for _, key in above), match["value"]


def _processes(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Id, name and MiB of each process."""
    pid = name = ""
    for line in lines:
        pair = _PAIR.fullmatch(line)
        match (pair["key"], pair["value"]) if pair else ("", ""):
            case "Process ID", value:
                pid = value
            case "Name", value if pid:
                name = value
            case "Used GPU Memory", value if pid:
                yield pid, name, value.removesuffix(" MiB")
                pid = name = ""
