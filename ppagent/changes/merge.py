"""Remedies of several causes joined into as few restarts as they allow."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ppagent.causes.cause import Change, Remedy


@dataclass(frozen=True)
class Step:
    """One restart, live change or operator's action, with the remedies that it carries out."""

    remedies: tuple[Remedy, ...]
    change: Change

    @property
    def kind(self) -> str:
        return self.remedies[0].kind


def steps_of(remedies: Sequence[Remedy]) -> tuple[Step, ...]:
    """Live changes one by one, then one restart with everything that can share it (the live changes made lasting
    among them, since a restart loses them), then that restart with more, alternatives, and operator's actions."""
    live = [Step((r,), r.change) for r in remedies if r.kind == "live"]
    shared = [r for r in remedies if r.kind == "relaunch" and not r.alone and not r.extends]
    lasting = [replace(r, kind="relaunch") for r in remedies if r.kind == "live"]
    merged, left_over = _merge(shared + lasting)
    apart = [Step((r,), r.change) for r in left_over if r not in lasting]
    apart += [Step((r,), r.change) for r in remedies if r.kind == "relaunch" and r.alone]
    operator = [Step((r,), r.change) for r in remedies if r.kind == "operator"]
    further = [_onto(merged, r) for r in remedies if r.extends and merged is not None]
    return (*live, *([merged] if merged is not None else []), *further, *apart, *operator)


def _onto(step: Step, remedy: Remedy) -> Step:
    change = Change(
        {**step.change.set, **remedy.change.set},
        tuple(dict.fromkeys(step.change.unset + remedy.change.unset)),
        {**step.change.env, **remedy.change.env},
    )
    return Step((*step.remedies, remedy), change)


def _merge(remedies: Sequence[Remedy]) -> tuple[Step | None, tuple[Remedy, ...]]:
    """One step of all remedies that agree, and those that contradict an earlier one."""
    taken: list[Remedy] = []
    change = Change()
    left_over: list[Remedy] = []
    for remedy in remedies:
        if _contradicts(change, remedy.change):
            left_over.append(remedy)
            continue
        taken.append(remedy)
        unset = tuple(dict.fromkeys(change.unset + remedy.change.unset))
        change = Change({**change.set, **remedy.change.set}, unset, {**change.env, **remedy.change.env})
    return (Step(tuple(taken), change) if taken else None), tuple(left_over)


def _contradicts(one: Change, other: Change) -> bool:
    same_flag = any(one.set[flag] != value for flag, value in other.set.items() if flag in one.set)
    same_env = any(one.env[name] != value for name, value in other.env.items() if name in one.env)
    set_and_unset = set(one.set) & set(other.unset) or set(other.set) & set(one.unset)
    return bool(same_flag or same_env or set_and_unset)
