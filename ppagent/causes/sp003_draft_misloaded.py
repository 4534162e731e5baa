"""SP003 draft mis-loaded

What it is
    The draft is not what was meant: NEXTN is taken for EAGLE and the whole model is loaded a second time as its own
    draft, or a draft that does not belong to the model is loaded.

Why it matters
    Memory for weights doubles and the load ends out of memory although the sum seemed to fit; or the server runs and
    hardly a drafted token is accepted.

Signals
    NEXTN asked for and EAGLE in force without a draft model named; out of memory while loading, with speculation on;
    twice the weights; a draft whose class is the target's and lacks what a draft has; an accept length of 1.00.

What refutes it
    No speculation; a server that is up and accepts a fair share of what is drafted.

Remedies
    What the version needs: a draft of its own for EAGLE3, SGLANG_ENABLE_SPEC_V2 in those that have it and leave it off
    (up to 0.5.11), a draft model that belongs to the model, or no speculation.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.said import said
from ppagent.causes.sighting import is_up, switched_on, trouble, trouble_words, version
from ppagent.causes.situation import Known
from ppagent.causes.speculation import accept_length, algorithm, speculative_flags, switched_off
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

SPEC_V2 = "SGLANG_ENABLE_SPEC_V2"
SPEC_V2_ON_FROM = "0.5.12"
"""The variable is off by default up to 0.5.9, on in 0.5.12, gone in 0.5.15 (srt/environ.py; not read between)."""

_TWICE = r"\b(?:twice|double[ds]?|second (?:copy|time)|two copies|x ?2|2 ?x)\b"
_WEIGHTS = r"\b(?:weights?|load(?:s|ed)?|gi?b)\b"


class DraftMisloaded:
    id = "SP003"
    name = "draft mis-loaded"
    prior = 0.02
    wants = (
        "args.speculative_algorithm",
        "launch.speculative_algorithm",
        "launch.speculative_draft_model_path",
        f"env.{SPEC_V2}",
        "trouble.cuda_oom",
        "trouble.draft_is_target",
        "decode.accept_len.mean",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        off = switched_off(facts)
        if off is not None:
            return (off,)
        found = (_is_target(facts), _taken_for_eagle(facts), _memory(facts), _twice(facts), _accepted(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        on = algorithm(facts)
        if on is None:
            return (Probe("server.launch", "whether speculation is on is not known", 0),)
        if not on.value or accept_length(facts) is not None or out_of_memory(facts) is not None:
            return ()
        return (Probe("logs.trouble", "whether the draft loaded and is any good is not known", 0),)

    def advise(self, facts: Facts) -> Advice:
        known = trouble(facts, "draft_is_target") or out_of_memory(facts) or algorithm(facts)
        cites = known.cites if known is not None else ()
        plain = Remedy(
            self.id,
            "relaunch",
            "Start without speculation, to see whether the rest fits",
            Change(unset=speculative_flags(facts)),
            cites,
            risks=("single-user speed falls",),
            verify="the server comes up and the weights take about half of the memory",
            rollback="the speculative flags of before",
            alone=True,
        )
        declined = (
            Declined("--mem-fraction-static", "two copies of the weights do not fit at any fraction", cites),
            Declined("--cpu-offload-gb", "it hides the second copy at the price of every step", cites),
        )
        meant = _draft_as_meant(self.id, facts, cites)
        return Advice((meant, plain) if meant is not None else (plain,), declined)


def _draft_as_meant(cause: str, facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    wanting = trouble(facts, "draft_is_target") is not None
    if wanting or at_least(version(facts), SPEC_V2_ON_FROM) or switched_on(facts, SPEC_V2):
        return Remedy(
            cause,
            "operator",
            "Name the draft that belongs to this model with --speculative-draft-model-path",
            Change(),
            cites,
            verify="the draft's weights are a small part of the model's, and accept len is well above 1",
            rollback="the flags of before",
        )
    return Remedy(
        cause,
        "relaunch",
        "Let the version load the model's own next-token layers as the draft",
        Change(env={SPEC_V2: "True"}),
        cites,
        risks=("an experimental path up to 0.5.11: compare some answers", "without effect in versions that lack it"),
        verify="the draft's weights are a small part of the model's, and accept len is well above 1",
        rollback=f"leave {SPEC_V2} out",
    )


def out_of_memory(facts: Facts) -> Known | None:
    """Known where a server that never came up ran out of memory."""
    logged = trouble(facts, "cuda_oom", "not_enough_memory")
    return logged if is_up(facts) is None else None


def _is_target(facts: Facts) -> Observation | None:
    """A draft of the target's class: without a draft path SGLang takes the target's checkpoint (sglang#36528)."""
    seen = trouble(facts, "draft_is_target")
    if seen is None:
        return None
    model = trouble_words(facts, "draft_is_target", "model") or "the model"
    return Observation(f"{model} was loaded as the draft and is none", seen.cites, 0.9, 0.003)


def _taken_for_eagle(facts: Facts) -> Observation | None:
    asked = facts.text("launch.speculative_algorithm")
    if asked is None or asked.upper() != "NEXTN" or facts.get("launch.speculative_draft_model_path") is not None:
        return None
    if switched_on(facts, SPEC_V2) or at_least(version(facts), SPEC_V2_ON_FROM):
        return None
    says = f"NEXTN is asked for without a draft model, and {SPEC_V2} is not on"
    return Observation(says, facts.cite("launch.speculative_algorithm"), 0.85, 0.15)


def _memory(facts: Facts) -> Observation | None:
    """Out of memory before the server came up, with a draft to load: it is the first suspect, not the only one."""
    logged, on = out_of_memory(facts), algorithm(facts)
    if logged is None or on is None:
        return None
    says = f"the server ran out of memory before it was up, with {on.says}"
    return Observation(says, tuple(dict.fromkeys(logged.cites + on.cites)), 0.7, 0.02)


def _twice(facts: Facts) -> Observation | None:
    spoken = said(facts, rf"{_TWICE}[^.]{{0,60}}{_WEIGHTS}|{_WEIGHTS}[^.]{{0,60}}{_TWICE}")
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.5, 0.03)


def _accepted(facts: Facts) -> Observation | None:
    length = accept_length(facts)
    if length is None:
        return None
    if length.value <= 1.02 and not facts.arg_flag("speculative_adaptive"):
        return Observation(f"{length.says}: hardly a drafted token is right", length.cites, 0.6, 0.05)
    if length.value < 1.5:
        return None
    return Observation(f"{length.says}: the draft knows the model", length.cites, 0.02, 0.7)


CAUSE = DraftMisloaded()
