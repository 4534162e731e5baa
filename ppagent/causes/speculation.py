"""Speculative decoding as the evidence shows it: on or off, how much is accepted, and the cap it brings along."""

from ppagent.causes.cause import Change, Observation, Remedy
from ppagent.causes.graphs import launch_seen
from ppagent.causes.situation import Known, arguments_known
from ppagent.evidence.facts import Facts

IMPLICIT_CAP = 48
"""max_running_requests that speculation sets where none is asked for (speculative arguments, 0.4.7 to 0.5.23)."""


def algorithm(facts: Facts) -> Known | None:
    """The speculative algorithm; value 1 where one is on, 0 where the arguments are known and name none."""
    for name in ("args.speculative_algorithm", "launch.speculative_algorithm"):
        text = facts.text(name)
        if text and text.upper() != "NONE":
            return Known(1, facts.cite(name), f"speculative_algorithm {text}")
    if (accepted := accept_length(facts)) is not None:
        return Known(1, accepted.cites, "decode lines report an accept length")
    if not arguments_known(facts):
        return None
    stated = facts.all("args.speculative_algorithm") or facts.all("launch.speculative_algorithm")
    cites = tuple(fact.evidence for fact in stated[:1]) or _any_argument(facts)
    return Known(0, cites, "no speculative algorithm is set") if cites else None


def _any_argument(facts: Facts) -> tuple[str, ...]:
    names = sorted((n for n in facts if n.startswith(("args.", "launch."))), key=lambda n: not n.startswith("args."))
    return next((facts.cite(name) for name in names if facts.cite(name)), ())


def switched_off(facts: Facts) -> Observation | None:
    """The one observation that settles every cause of speculation where there is none."""
    known = algorithm(facts)
    if known is None or known.value:
        return None
    return Observation(known.says, known.cites, 0.002, 0.6)


def accept_length(facts: Facts) -> Known | None:
    """Mean tokens gained per verification step, 1 being what plain decoding gains."""
    fact = facts.first(
        "decode.accept_len.mean", "decode.accept_len.p50", "metrics.accept_length", "internal.avg_spec_accept_length"
    )
    if fact is None or not fact.number:
        return None
    return Known(fact.number, (fact.evidence,), f"accept length {fact.number:.2f} tokens a step")


def draft_tokens(facts: Facts) -> Known | None:
    """Tokens verified per step."""
    fact = facts.arg("speculative_num_draft_tokens")
    if fact is None or not fact.number:
        return None
    return Known(fact.number, (fact.evidence,), f"{fact.number:g} draft tokens")


def implicit_cap(facts: Facts) -> Known | None:
    """Known where the running cap is speculation's own and not asked for."""
    on = algorithm(facts)
    if on is None or not on.value:
        return None
    if facts.number("trouble.spec_cap"):
        cites = facts.cite("trouble.spec_cap")
        return Known(IMPLICIT_CAP, cites, f"the log says the cap was set to {IMPLICIT_CAP} for speculation")
    asked = facts.get("launch.max_running_requests")
    if asked is not None or not launch_seen(facts):
        return None
    effective = facts.first("args.max_running_requests", "start.max_running_requests", "internal.max_running_requests")
    ranks = facts.arg_number("dp_size") or 1.0
    if effective is None or effective.number not in (IMPLICIT_CAP, IMPLICIT_CAP // ranks):
        return None
    says = f"max_running_requests is {effective.number:g}, which speculation sets where none is asked for"
    return Known(effective.number, (effective.evidence, *facts.cite("launch.command"), *on.cites), says)


def without(cause: str, facts: Facts, known: Known, verify: str, alone: bool) -> Remedy:
    """Decoding without speculation: every speculative flag of the launch taken out."""
    return Remedy(
        cause,
        "relaunch",
        f"Decode without speculation: {known.says}",
        Change(unset=speculative_flags(facts)),
        known.cites,
        risks=("single-user speed falls where drafts did help",),
        verify=verify,
        rollback="the speculative flags of before",
        alone=alone,
    )


def speculative_flags(facts: Facts) -> tuple[str, ...]:
    """The speculative flags of the launch, as the newest version spells them; the algorithm's where none is seen."""
    fields = sorted(name.partition(".")[2] for name in facts if name.startswith("launch.speculative_"))
    known = [field for field in fields if facts.get(f"launch.{field}") is not None]
    return tuple("--" + field.replace("_", "-") for field in known) or ("--speculative-algorithm",)
