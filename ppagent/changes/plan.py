"""From supported causes to proposals: legal for the installed version, whole, and with a way back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ppagent.causes.cause import Advice, Change, Declined, Remedy
from ppagent.causes.judge import Judgement
from ppagent.changes.alternative import single_request
from ppagent.changes.commands import Installed, live_command, relaunch_command
from ppagent.changes.forecasts import forecast, why_none
from ppagent.changes.merge import Step, steps_of
from ppagent.changes.nodes import spread_of
from ppagent.changes.of_its_day import OfItsDay, of_its_day
from ppagent.changes.proposal import Plan, Predicted, Proposal
from ppagent.changes.spelling import lever_name, spell
from ppagent.changes.waterfall import waterfall
from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.legality.renames import earlier_name


def make_plan(supported: Sequence[Judgement], facts: Facts) -> Plan:
    """Proposals for the supported causes, in the order to try them, and the levers declined on purpose."""
    installed = Installed.of(facts)
    advice = [judgement.cause.advise(facts) for judgement in supported]
    of_day = of_its_day(facts) if not installed.version and installed.catalogue is None else None
    remedies, lacking = _spelled(advice, installed, of_day)
    declined = [*(_named(d, installed, of_day) for a in advice for d in a.declined), *lacking]
    declined += single_request([judgement.cause.id for judgement in supported], facts)
    proposals: list[Proposal] = []
    for step in steps_of(remedies):
        made = _proposal(f"P{len(proposals) + 1}", step, installed, facts)
        if isinstance(made, Declined):
            declined.append(made)
        else:
            proposals.append(made)
    return Plan(
        tuple(proposals),
        _once(declined),
        _gains(remedies, facts),
        waterfall([judgement.cause.id for judgement in supported], facts),
    )


def _gains(remedies: Sequence[Remedy], facts: Facts) -> dict[str, Predicted]:
    """What the first remedy of each cause would give by itself, where the model can price it."""
    gains: dict[str, Predicted] = {}
    for remedy in remedies:
        if remedy.cause not in gains and not remedy.extends:
            predicted = forecast(remedy.change, facts)
            if predicted is not None:
                gains[remedy.cause] = predicted
    return gains


def _spelled(
    advice: Sequence[Advice], installed: Installed, of_day: OfItsDay | None
) -> tuple[list[Remedy], list[Declined]]:
    """Remedies in this version's spellings; those it has no flag or no such value for become declined levers."""
    remedies: list[Remedy] = []
    lacking: list[Declined] = []
    words, catalogue = _meant(installed, of_day)
    for remedy in (r for a in advice for r in a.remedies):
        spelled = spell(remedy.change, catalogue)
        lacking += [_lacking(flag, remedy, installed, words) for flag in spelled.lacking]
        lacking += [Declined(f, f"in {words} {why}", remedy.cites) for f, why in spelled.unfit.items()]
        if spelled.lacking or spelled.unfit:
            continue
        risks = (*_other_names(spelled.change, installed, of_day), *remedy.risks)
        remedies.append(replace(remedy, change=spelled.change, risks=risks))
    return remedies, lacking


def _meant(installed: Installed, of_day: OfItsDay | None) -> tuple[str, Catalogue | None]:
    """The installation in words and its flags, or what stands in for it."""
    return (installed.words, installed.catalogue) if of_day is None else (of_day.words, of_day.catalogue)


def _other_names(change: Change, installed: Installed, of_day: OfItsDay | None) -> tuple[str, ...]:
    """Where the version is not known: flags that other versions refuse, and what they want instead."""
    if installed.catalogue is not None:
        return ()
    if of_day is not None:
        return of_day.other_names(change.set)
    older = {flag: name for flag in change.set if (name := earlier_name(flag))}
    return tuple(f"{flag} is its newest name: {was}, and SGLang's version is not known" for flag, was in older.items())


def _named(declined: Declined, installed: Installed, of_day: OfItsDay | None) -> Declined:
    """A declined lever by the name that it has here, so that whoever thinks of it finds it."""
    words, catalogue = _meant(installed, of_day)
    name = lever_name(declined.lever, catalogue)
    if name is None:
        return replace(declined, why=f"{declined.why}; {words} has no such flag")
    return replace(declined, lever=name)


def _lacking(flag: str, remedy: Remedy, installed: Installed, words: str) -> Declined:
    """A lever that this installation does not have."""
    differs = installed.differs([flag])
    why = f"{words} has no such flag" + (f": {differs}" if differs else "")
    return Declined(flag, why, (*remedy.cites, *(installed.cites if differs else ())))


def _joined(titles: Iterable[str]) -> str:
    """One sentence of several: those after the first begin small, unless with a name."""
    first, *others = titles
    return "; ".join([first, *(text[:1].lower() + text[1:] if text[1:2].islower() else text for text in others)])


def _proposal(proposal_id: str, step: Step, installed: Installed, facts: Facts) -> Proposal | Declined:
    """The step as a proposal, or declined where this version would refuse the resulting launch."""
    first = step.remedies[0]
    command, diff = "", ""
    beside: tuple[str, ...] = ()
    match first.kind:
        case "live":
            command = live_command(step.change, installed)
        case "relaunch":
            relaunch = relaunch_command(step.change, installed)
            if relaunch.refused:
                flags = ", ".join([*step.change.set, *step.change.unset, *step.change.env])
                return Declined(flags, f"{installed.words} would refuse it: {relaunch.refused}", first.cites)
            command, diff, beside = relaunch.command, relaunch.diff, relaunch.risks
        case "operator":
            command = first.title
    odd, cites = _odd_flags(step, installed)
    spread = spread_of(first.kind, step.change, installed, facts)
    predicted = forecast(step.change, facts)
    return Proposal(
        id=proposal_id,
        causes=tuple(dict.fromkeys(r.cause for r in step.remedies)),
        kind=first.kind,
        title=_joined(dict.fromkeys(r.title for r in step.remedies)),
        change=step.change,
        cites=tuple(dict.fromkeys((*(c for r in step.remedies for c in r.cites), *cites))),
        command=command,
        diff=diff,
        predicted=predicted,
        unpredicted=why_none(first.kind, step.change, facts) if predicted is None else "",
        risks=tuple(dict.fromkeys((*odd, *beside, *spread.risks, *(risk for r in step.remedies for risk in r.risks)))),
        verify="; ".join(dict.fromkeys(r.verify for r in step.remedies if r.verify)),
        rollback=_rollback(step, installed),
        host=spread.host,
        elsewhere=spread.elsewhere,
    )


def _odd_flags(step: Step, installed: Installed) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is to be known of the installed flags that a step touches, and the evidence for it."""
    if step.kind == "operator":
        return (), ()
    differs = installed.differs((*step.change.set, *step.change.unset))
    said = (*([differs] if differs else []), *installed.doubts)
    return said, installed.cites if said else ()


def _rollback(step: Step, installed: Installed) -> str:
    """The way back: the launch command of now where it is known and starts a server, else each remedy's own."""
    own = dict.fromkeys(r.rollback for r in step.remedies if r.rollback)
    starts = any(not each.startswith("none: ") for each in own) or not own
    if step.kind == "relaunch" and installed.launch is not None and starts:
        return "restart with the command that ran before this change"
    return "; ".join(own)


def _once(declined: Sequence[Declined]) -> tuple[Declined, ...]:
    """Each lever once, with the first reason given."""
    return tuple({d.lever: d for d in reversed(declined)}.values())[::-1]
