"""How often what was told held: on the half that was fitted on, on the other, and at first sight."""

from collections.abc import Mapping, Sequence

from ppagent.causes.calibration import Calibration
from ppagent.report.filled import filled
from ppagent_evals.calibration_data import Told, halves
from ppagent_evals.results import BINS

SURE = 0.9
_RANGE, _GROUP = 14, 22
Groups = Mapping[str, Sequence[Told]]


def calibration_text(told: Sequence[Told], seen_first: Sequence[Told], by: Calibration) -> str:
    """Reliability and Brier scores before and after the map `by`; `seen_first` are incidents at first sight."""
    both = halves(told)
    groups: Groups = {"fitted on": both[True], "held out": both[False], "first sight": seen_first}
    tables = [_table(groups, Calibration(), "as computed"), _table(groups, by, "as told")]
    lines = [_score_line(name, rows, by) for name, rows in groups.items() if rows]
    lines += [_sure_line(name, rows, by) for name, rows in groups.items() if rows]
    return "\n\n".join([*tables, "\n".join(row for line in lines for row in filled(line, ""))])


def _table(groups: Groups, by: Calibration, title: str) -> str:
    """A row a range of confidence; a group's three columns are how many were told, their mean, and what held."""
    rows = [f"{low:.2f} to {min(high, 1.0):.2f}" for low, high in BINS]
    cells = ["".join(f"{_cell(told, by, *bounds):>{_GROUP}}" for told in groups.values()) for bounds in BINS]
    heads = (
        f"{title:<{_RANGE}}{''.join(f'{name:>{_GROUP}}' for name in groups)}",
        f"{'':<{_RANGE}}{'told  mean  held'.rjust(_GROUP) * len(groups)}",
    )
    return "\n".join([*heads, *(f"{row:<{_RANGE}}{cell}" for row, cell in zip(rows, cells, strict=True))])


def _cell(told: Sequence[Told], by: Calibration, low: float, high: float) -> str:
    inside = [(by.told(t.posterior), t) for t in told if low <= by.told(t.posterior) < high]
    weight = sum(t.weight for _, t in inside)
    if not weight:
        return "0     -     -"
    mean = sum(p * t.weight for p, t in inside) / weight
    held = sum(t.weight for _, t in inside if t.held) / weight
    return f"{len(inside)}  {mean:.2f}  {held:.2f}"


def _score_line(name: str, told: Sequence[Told], by: Calibration) -> str:
    count = len({t.incident for t in told})
    incidents = f"{count} incident{'' if count == 1 else 's'}"
    before, after = brier(told, Calibration()), brier(told, by)
    return f"Brier score, {name} ({incidents}): {before:.4f} as computed, {after:.4f} as told"


def brier(told: Sequence[Told], by: Calibration) -> float:
    """Weighted mean square of confidence minus truth; 0 is perfect."""
    total = sum(t.weight for t in told)
    return sum(t.weight * (by.told(t.posterior) - t.held) ** 2 for t in told) / total if total else 0.0


def _sure_line(name: str, told: Sequence[Told], by: Calibration) -> str:
    """Of what was told as nearly certain, how much was so; apart, where the answer speaks of it in words."""
    sure = [t for t in told if by.told(t.posterior) >= SURE]
    listed = [t for t in sure if t.listed]
    so, words = sum(t.held for t in sure), sum(t.held for t in listed)
    return f"told at {SURE} or more, {name}: {so} of {len(sure)} held ({words} of {len(listed)} that the answer lists)"
