"""The one pipeline setting that a running server takes: how many requests a slot admits.

`pp_max_micro_batch_size` (`max_micro_batch_size` before 0.5.4), set through `/set_internal_state`. It changes no memory
and no answers, moves no running request, and is lost at a restart. What the server answers proves nothing up to 0.5.14:
it said true where it had refused. So every change is read back, from every DP rank's scheduler.
"""

import time
from dataclasses import dataclass

from ppagent.bench.control import NOBODY_BEHIND, Control, Unreachable
from ppagent.errors import ToolError, UserError
from ppagent.sglang.scheduler_facts.facts import SchedulerFacts
from ppagent.sglang.scheduler_facts.read import read_scheduler_facts
from ppagent.sglang.server_info import ServerInfo, whole

READ_BACKS = 5
BETWEEN_READ_BACKS_S = 0.4
NAMES = ("pp_max_micro_batch_size", "max_micro_batch_size")


class Refused(ToolError):
    """The server did not take the value, whatever it answered."""


@dataclass(frozen=True)
class LimitState:
    """The slot limit as the schedulers hold it."""

    key: str
    values: tuple[int, ...]
    """One per DP rank."""
    highest: int | None
    """The most that the live setter takes: max_running_requests // pp_size, the default; None where it is unknown."""
    stages: int
    version: str

    @property
    def value(self) -> int:
        """The first rank's limit."""
        return self.values[0]


def read_limit(control: Control) -> LimitState:
    """The limit now. Raises ToolError where the server does not tell it."""
    return limit_in(control.server_info())


def limit_in(info: ServerInfo) -> LimitState:
    """The limit out of `/server_info`."""
    values = [state.slot_limit for state in info.states if state.slot_limit is not None]
    if not values:
        raise ToolError("the server does not tell its slot limit (no internal_states in /server_info)")
    stages = whole(info.effective("pp_size")) or 1
    cap = next((state.max_running_requests for state in info.states if state.max_running_requests), None)
    cap = cap or whole(info.effective("max_running_requests"))
    return LimitState(
        key=_facts(info.version).slot_limit_key.value,
        values=tuple(values),
        highest=max(cap // stages, 1) if cap else None,
        stages=stages,
        version=info.version or "",
    )


def check_change(state: LimitState, new: int) -> None:
    """Raises UserError where the change would be refused, would change nothing, or could not be taken back."""
    facts = _facts(state.version)
    if state.key not in facts.live_keys.value:
        raise UserError(
            f"SGLang {state.version} takes no {state.key} while it runs ({facts.live_keys.source}).",
            "Change the launch instead.",
        )
    if len(set(state.values)) > 1:
        raise UserError(
            f"The DP ranks have different limits: {', '.join(map(str, state.values))}.",
            "Set them to one value first, so that there is one to come back to.",
        )
    highest = state.highest
    if new < 1 or (highest is not None and new > highest):
        taken = "1 or more" if highest is None else f"1 to {highest} (max_running_requests // pp_size)"
        raise UserError(
            f"{state.key} {new} is out of the range that the running server takes: {taken}.",
            "A higher value needs a restart." if new >= 1 else "Give 1 or more.",
        )
    if highest is not None and state.value > highest:
        raise UserError(
            f"{state.key} was launched at {state.value}, above the {highest} that can be set live: it could be lowered "
            "but not put back.",
            "Change the launch instead.",
        )
    if new == state.value:
        raise UserError(f"{state.key} is {new} already.", "Give another value.")


def set_limit(control: Control, key: str, value: int) -> None:
    """Sets the limit and reads it back. Raises Refused with what the server holds instead, Unreachable where the demand
    did not reach it, another ToolError where it cannot be asked."""
    answer = control.set_state({key: value})
    if answer.status in (401, 403):
        raise ToolError("/set_internal_state wants the admin key: put it into SGLANG_ADMIN_API_KEY")
    held: tuple[int, ...] = ()
    for _ in range(READ_BACKS):
        held = read_limit(control).values
        if all(one == value for one in held):
            return
        time.sleep(BETWEEN_READ_BACKS_S)
    said = " ".join(answer.text.split())[:80]
    kind = Unreachable if answer.status in NOBODY_BEHIND else Refused
    raise kind(f"the server answered {said} ({answer.status}) to {key} {value} and holds {', '.join(map(str, held))}")


def _facts(version: str | None) -> SchedulerFacts:
    return read_scheduler_facts(None, version or None)
