"""The fact `gpu.power_series` as numbers to draw. Any tool may write it, so its shape is not taken on trust."""

import math
from collections.abc import Sequence

from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Fact, Facts
from ppagent.report.pictures.power import Power, Row

MOST_HOSTS = 4
MOST_CARDS = 16


def power_of(facts: Facts) -> tuple[Power, ...]:
    """One series a host, of the first MOST_HOSTS; what has not the shape of one is left out."""
    drawn = [power for fact in facts.all("gpu.power_series") if (power := _power(fact, facts)) is not None]
    return tuple(drawn[:MOST_HOSTS])


def _power(fact: Fact, facts: Facts) -> Power | None:
    if not isinstance(fact.value, dict) or not isinstance(watts := fact.value.get("watts"), dict):
        return None
    rows = {str(index): _numbers(row) for index, row in list(watts.items())[:MOST_CARDS] if isinstance(row, list)}
    count = max((len(row) for row in rows.values()), default=0)
    full = {index: row for index, row in rows.items() if len(row) == count}
    if not any(value is not None for row in full.values() for value in row):
        return None
    seconds = _numbers(fact.value.get("seconds"))
    times = [second for second in seconds if second is not None]
    timed = len(times) == count and times == sorted(times) and (count == 1 or times[-1] > times[0])
    return Power(
        host=fact.host,
        seconds=tuple(times) if timed else tuple(float(place) for place in range(1, count + 1)),
        timed=timed,
        watts=full,
        limit_w=_limit_w(fact.host, facts),
        cites=(fact.evidence,),
    )


def _numbers(values: FactValue) -> Row:
    """Each entry as a number of at least 0, None where it is none."""
    return tuple(_number(value) for value in values) if isinstance(values, list) else ()


def _number(value: FactValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _limit_w(host: str, facts: Facts) -> float | None:
    """The lowest limit of the host's cards."""
    tables: Sequence[FactValue] = [fact.value for fact in facts.all("gpu.power_limit_w") if fact.host == host]
    limits = [value for table in tables if isinstance(table, dict) for value in _numbers(list(table.values())) if value]
    return min(limits, default=None)
