"""What if: a setting's effect by the pipeline model, what the version says to it, and what cannot be said."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Change
from ppagent.causes.graphs import OFF_SWITCHES
from ppagent.causes.physics import measured_levels, ring_of, roofline_of
from ppagent.causes.split import layer_split
from ppagent.changes.commands import Installed, relaunch_command
from ppagent.chat.answers.setting import DEPTH, PARTITION, SLOT_LIMIT, Setting
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.model.deployment import Deployment, share_views
from ppagent.model.forecast import Forecast, throughput_forecast
from ppagent.model.graph import GraphCase, forecast_graph, forecast_graph_and_spread
from ppagent.model.spread import forecast_limit
from ppagent.model.whatif import DEPTH_FILLS_NOTHING
from ppagent.report.lines import Line, wrapped
from ppagent.sglang.legality.renames import renamed

KNOWN = "the slot limit, the async depth, graphs, the layer split (and the requests in flight, C=16)"


@dataclass(frozen=True)
class Unknown:
    """Why there is no forecast."""

    why: str


def what_if_lines(found: Investigation, setting: Setting, width: int) -> list[Line]:
    """The answer to "what if I set ...?"."""
    facts = found.facts
    if setting.empty:
        return wrapped(f"Which setting? The model knows {KNOWN}. For instance: what if the limit is 2 at C=16?", width)
    lines = _forecast_lines(facts, setting, width)
    for says in (*_declined(found, setting), *_objections(facts, setting)):
        lines += wrapped(says, width, "  ")
    return lines


def forecast_of(facts: Facts, setting: Setting) -> Forecast | Unknown:
    """tok/s with the setting, or why that cannot be told."""
    others = [*setting.others, *setting.dropped]
    if others:
        return Unknown(f"the pipeline model prices {KNOWN}, and not {', '.join(others)}: measure it")
    levels = measured_levels(facts)
    if not levels:
        return Unknown("no load level was measured, so there is nothing to start from: measure two or three (/bench)")
    ring = ring_of(facts)
    if ring is None:
        return Unknown("there is no pipeline of two stages or more here, and the model prices nothing else")
    if setting.split and len(setting.split) != ring.stages:
        return Unknown(f"a split needs {ring.stages} numbers, one a stage")
    return _modelled(facts, ring, setting, setting.concurrency or levels[-1].concurrency)


def _modelled(facts: Facts, ring: Deployment, setting: Setting, at: int) -> Forecast | Unknown:
    if setting.graphs is False:
        return Unknown("what switching graphs off costs is not modelled; it never makes decoding faster")
    if setting.graphs and _graphs_off(facts):
        return _with_graphs(facts, setting, at)
    changed = replace(ring, shares=_shares(facts, ring, setting.split))
    if setting.depth is not None:
        changed = replace(changed, slots=ring.stages + setting.depth)
    if setting.limit is None:
        return _same_limit(changed, setting, at)
    return forecast_limit(changed, setting.limit, at).forecast


def _same_limit(ring: Deployment, setting: Setting, at: int) -> Forecast | Unknown:
    """The limit as it is: requests stay in the slots that they are in."""
    if setting.split:
        return Unknown("a split by itself changes little while slots stand empty; add a limit to fill them")
    baseline = ring.baseline(at)
    regime = "graphs are on already" if setting.graphs else f"{DEPTH_FILLS_NOTHING}, and yours stand empty"
    return throughput_forecast(at, baseline, (baseline,), regime, floor=(0.05, 0.02))


def _with_graphs(facts: Facts, setting: Setting, at: int) -> Forecast | Unknown:
    split, roofline = layer_split(facts), roofline_of(facts)
    if split is None:
        return Unknown("how the layers are split is not known")
    whole = roofline is not None and sum(split.layers) == len(roofline.architecture.layers)
    case = GraphCase(measured_levels(facts), split.layers, roofline if whole else None)
    if setting.limit is None:
        return forecast_graph(case, at)
    if case.roofline is None:
        return Unknown("graphs and a limit together need the model's config and a card that is known")
    return forecast_graph_and_spread(case, at, setting.limit, setting.split or None)


def _graphs_off(facts: Facts) -> bool:
    return any(facts.arg_flag(flag.removeprefix("--").replace("-", "_")) for flag in OFF_SWITCHES)


def _shares(facts: Facts, ring: Deployment, split: tuple[int, ...]) -> tuple[tuple[float, ...], ...]:
    if not split:
        return ring.shares
    roofline = roofline_of(facts)
    fits = roofline is not None and sum(split) == len(roofline.architecture.layers)
    device_ms = roofline.stage_ms(split, 1) if roofline is not None and fits else None
    return share_views(split, device_ms, ring.levels[-1].turn_ms)


def _forecast_lines(facts: Facts, setting: Setting, width: int) -> list[Line]:
    forecast = forecast_of(facts, setting)
    if isinstance(forecast, Unknown):
        return wrapped(f"With {setting.text}: no forecast, {forecast.why}.", width)
    cites = facts.cite("bench.levels", "stated.levels")[:1]
    says = (
        f"With {setting.text}, at C={forecast.at_concurrency}: {forecast.low:.3g}-{forecast.high:.3g} tok/s "
        f"(now {forecast.baseline:.3g}): {forecast.effect}"
    )
    lines = wrapped(tagged(says, cites), width, tone="verdict") + wrapped(forecast.regime, width, "  ")
    for note in forecast.assumptions:
        lines += wrapped(note, width, "  assumes   ")
    return lines


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
                yield f"SGLang {installed.version} has no flag {flag}."
                return
    refused = relaunch_command(change, installed).refused
    if refused:
        yield f"SGLang {installed.version} would refuse to start with it: {refused}."


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
