"""What the first prompt does not need, and the first answer does: loaded when it is asked for."""

from collections.abc import Sequence
from typing import overload

from ppagent.causes.cause import Cause
from ppagent.causes.judge import Judgement
from ppagent.changes.proposal import Plan
from ppagent.evidence.facts import Facts


class CausesLater(Sequence[Cause]):
    """Every cause, from the first board on."""

    @overload
    def __getitem__(self, index: int) -> Cause: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Cause]: ...

    def __getitem__(self, index: int | slice) -> Cause | Sequence[Cause]:
        return _all()[index]

    def __len__(self) -> int:
        return len(_all())


def plan_later(supported: Sequence[Judgement], facts: Facts) -> Plan:
    """The plan, from the first one that is asked for."""
    from ppagent.changes.plan import make_plan

    return make_plan(supported, facts)


def _all() -> Sequence[Cause]:
    from ppagent.causes.catalog import all_causes

    return all_causes()
