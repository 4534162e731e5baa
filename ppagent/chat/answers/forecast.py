"""What if: a setting's effect by the pipeline model, what the version says to it, and what cannot be said."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Change
from ppagent.causes.graphs import OFF_SWITCHES
from ppagent.causes.physics import measured_levels
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.changes.forecasts import misfit, server_of
from ppagent.changes.untold import why_untold
from ppagent.chat.answers.advice import proposals_with, verdict_on
from ppagent.chat.answers.flag import here_lines
from ppagent.chat.answers.setting import DEPTH, PARTITION, SLOT_LIMIT, Setting, taken_for_split
from ppagent.chat.answers.shape import shape_in, shape_lines
from ppagent.chat.answers.unused import unused_in
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.model.forecast import Forecast
from ppagent.model.whatif import Settings, what_if
from ppagent.report.lines import Line, wrapped
from ppagent.report.rate import rate
from ppagent.sglang.legality.renames import renamed

KNOWN = "the slot limit, the async depth, graphs, the layer split (and a load, written as C=16)"


@dataclass(frozen=True)
class Unknown:
    """Why there is no forecast."""

    why: str


def what_if_lines(found: Investigation, setting: Setting, width: int) -> list[Line]:
    """The answer to "what if I set ...?"."""
    facts = found.facts
    setting = taken_for_split(setting)
    left, shape = unused_in(setting.said), shape_in(setting.said)
    if setting.empty and shape:
        return [*shape_lines(found, shape, width), *_not_understood(left, width)]
    if setting.empty:
        return [
            *_not_understood(left, width),
            *wrapped(f"Which setting? The model knows {KNOWN}. For instance: what if the limit is 2 at C=16?", width),
        ]
    lines = [*_forecast_lines(facts, setting, width), *_not_understood(left, width), *_overruled(setting, width)]
    lines += _in_its_place(facts, setting, width)
    if shape:
        lines += shape_lines(found, shape, width)
    for flag in setting.others:
        if flag.startswith("--"):
            lines += [*here_lines(found, flag, width, "  "), *wrapped(verdict_on(found, flag), width, "  ")]
    for says in (*_proposed(found, setting), *_declined(found, setting), *_objections(facts, setting)):
        lines += wrapped(says, width, "  ")
    return lines


def forecast_of(facts: Facts, setting: Setting) -> Forecast | Unknown:
    """tok/s with the setting, or why that cannot be told."""
    others = [*setting.others, *setting.dropped]
    if others and not setting.modelled:
        return Unknown(f"the pipeline model prices {KNOWN}, and not {', '.join(others)}: measure it")
    levels = measured_levels(facts)
    if not levels:
        return Unknown("no load level was measured, so there is nothing to start from: measure two or three (/bench)")
    server = server_of(facts)
    if server is None:
        return Unknown("there is no pipeline of two stages or more here, and the model prices nothing else")
    wrong = misfit(setting.split, server, facts)
    if wrong:
        return Unknown(wrong)
    then = _then(setting, server.now)
    if setting.graphs and then == server.now:
        return Unknown("graphs are on already")
    try:
        return what_if(server, then, setting.concurrency or levels[-1].concurrency)
    except ValueError as error:
        return Unknown(str(error))


def _then(setting: Setting, now: Settings) -> Settings:
    return Settings(
        slot_limit=setting.limit if setting.limit is not None else now.slot_limit,
        async_depth=setting.depth if setting.depth is not None else now.async_depth,
        graph=setting.graphs if setting.graphs is not None else now.graph,
        split=setting.split or now.split,
    )


def _forecast_lines(facts: Facts, setting: Setting, width: int) -> list[Line]:
    forecast = forecast_of(facts, setting)
    if isinstance(forecast, Unknown):
        return wrapped(f"With {setting.text}: no forecast, {forecast.why}.", width)
    cites = facts.cite("bench.levels", "stated.levels")[:1]
    server = server_of(facts)
    untold = why_untold(forecast, server) if server is not None else ""
    priced = replace(setting, others={}, dropped=())
    says = (
        f"With {priced.text}, at C={forecast.at_concurrency}: {rate(forecast.low)}-{rate(forecast.high)} tok/s "
        f"(now {rate(forecast.baseline)}): {forecast.effect}"
    )
    lines = wrapped(tagged(says, cites), width, tone="verdict")
    lines += wrapped(f"{untold}.", width, "  ") if untold else []
    lines += wrapped(forecast.regime, width, "  ")
    for note in forecast.assumptions:
        lines += wrapped(note, width, "  assumes   ")
    rest = replace(setting, limit=None, depth=None, graphs=None, split=()).text
    if rest:
        lines += wrapped(f"{rest}: the pipeline model does not price it, measure it", width, "  not in it ")
    return lines


def _not_understood(left: Sequence[str], width: int) -> list[Line]:
    """Nothing that was said is dropped without a word."""
    if not left:
        return []
    quoted = ", ".join(f'"{piece}"' for piece in left)
    return wrapped(f"{quoted}: not understood, and not in this answer", width, "  not used  ")


def _overruled(setting: Setting, width: int) -> list[Line]:
    """What was said twice with two values: which of them this answer is about."""
    flags = {"limit": f"{SLOT_LIMIT[0]} {setting.limit}", "depth": f"{DEPTH} {setting.depth}"}
    lines: list[Line] = []
    for words in setting.overruled:
        says = f"{words}: {flags[words.split()[0]]} is named beside it, and this answer is about the flag"
        lines += wrapped(says, width, "  not used  ")
    return lines


def _in_its_place(facts: Facts, setting: Setting, width: int) -> list[Line]:
    """The limit that the launch sets already, where another is asked about."""
    flag = SLOT_LIMIT[0]
    fact = facts.first(*(f"launch.{name.lstrip('-').replace('-', '_')}" for name in SLOT_LIMIT))
    if setting.limit is None or fact is None or fact.number is None or fact.number == setting.limit:
        return []
    says = f"{flag} {fact.number:g} of the launch, which {setting.limit} would replace"
    return wrapped(tagged(says, (fact.evidence,)), width, "  now       ")


def _proposed(found: Investigation, setting: Setting) -> Iterator[str]:
    """Proposals that hold the setting, which may do more with others than by itself."""
    change = _change(setting, found.facts)
    dropped = OFF_SWITCHES if setting.graphs else ()
    ids = proposals_with(found, *change.set, *change.unset, *dropped)
    if ids:
        yield f"Proposed as well: {' '.join(ids)} (/propose {ids[0]} tells with what else)."


def _declined(found: Investigation, setting: Setting) -> Iterator[str]:
    """Why the plan leaves the lever out, where it does."""
    flags = set(_change(setting, found.facts).set) | set(setting.named)
    for declined in found.plan.declined:
        if declined.lever in flags:
            yield tagged(f"Not the cure: {declined.lever}: {declined.why}", declined.cites)


def _objections(facts: Facts, setting: Setting) -> Iterator[str]:
    """What the installed version would say to the new launch."""
    change, installed = _change(setting, facts), Installed.of(facts)
    if installed.catalogue is not None:
        for flag in (*change.set, *change.unset):
            if flag not in installed.catalogue.by_spelling:
                yield f"{installed.words} has no flag {flag}."
                return
    refused = relaunch_command(change, installed).refused
    if refused:
        yield f"{installed.words} would refuse to start with it: {refused.rstrip('.')}."


def _change(setting: Setting, facts: Facts) -> Change:
    """The setting as a change of the launch, in the installed version's spelling where it has one."""
    catalogue = Installed.of(facts).catalogue
    limit = (renamed(SLOT_LIMIT[0], catalogue) if catalogue is not None else None) or SLOT_LIMIT[0]
    values = {limit: str(setting.limit)} if setting.limit is not None else {}
    values |= {DEPTH: str(setting.depth)} if setting.depth is not None else {}
    values |= {flag: value for flag, value in setting.others.items() if flag.startswith("--")}
    env = {PARTITION: ",".join(map(str, setting.split))} if setting.split else {}
    env |= {name: value for name, value in setting.others.items() if not name.startswith("--")}
    return Change(values, setting.dropped, env)
