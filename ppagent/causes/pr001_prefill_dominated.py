"""PR001 prefill-dominated workload

What it is
    The requests bring long prompts and take short answers, so most of the work is prefill. Decoding gets what is left,
    and a rate of output tokens looks poor.

Why it matters
    Nothing is broken: the server must be judged by its input tokens a second. Decode flags do not help.

Signals
    Many more uncached prompt tokens than answer tokens; a time to first token that is most of the request; prefill
    lines in large numbers with full chunks; decode that is healthy where it runs.

What refutes it
    About as many answer tokens as prompt tokens; few prefill lines; a prefix cache that should have saved the work
    (KV004); prefill on nodes of its own.

Remedies
    Prefill and decode on separate servers, a chunk size for what matters more (first tokens or steady answers), prompt
    prefixes that the cache can keep.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.prefixes import cached_share, prompts_share
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import Known
from ppagent.evidence.facts import Facts

MEASURES_PREFILL = 4.0
"""Answers of at most this many tokens."""


class PrefillDominated:
    id = "PR001"
    name = "prefill-dominated workload"
    prior = 0.07
    wants = (
        "bench.levels",
        "metrics.prompt_rate",
        "metrics.generation_rate",
        "prefill.share_of_lines",
        "prefill.tokens_per_line.mean",
        "prefill.cached_share",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        alone = _apart(facts) or _prefill_alone(facts)
        if alone is not None:
            return (alone,)
        found = (_ratio(facts), _lines(facts), _first_token(facts), _cache(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        found = []
        if prompt_over_answer(facts) is None:
            found.append(Probe("bench.results", "how long prompts and answers are is not known", 0))
        if facts.get("prefill.share_of_lines") is None:
            found.append(Probe("logs.prefill", "how much of the work is prefill is not known", 0))
        return tuple(found)

    def advise(self, facts: Facts) -> Advice:
        known = prompt_over_answer(facts)
        cites = known.cites if known is not None else facts.cite("prefill.share_of_lines")
        remedy = Remedy(
            self.id,
            "operator",
            "Judge by input tokens a second; where answers must not wait, serve prefill and decode apart",
            Change(),
            cites,
            risks=("two servers instead of one, with the KV cache to carry between them",),
            verify="input tokens a second are near what the cards can do, and the time between tokens is steady",
            rollback="none needed",
        )
        why = "prefill does not run from decode graphs"
        return Advice((remedy,), (Declined("--cuda-graph-max-bs-decode", why, cites),))


def prompt_over_answer(facts: Facts) -> Known | None:
    """Prompt tokens to compute over answer tokens: from the benchmark's lengths, else from the server's counters.
    What the prefix cache holds does not count."""
    share = cached_share(facts)
    kept = 1 - share.value if share is not None else 1.0
    for row in bench_rows(facts):
        prompt, answer = number(row.get("input_len")), number(row.get("output_len"))
        if prompt > 0 and answer > 0:
            says = f"prompts of {prompt:g} and answers of {answer:g} tokens"
            return Known(kept * prompt / answer, facts.cite("bench.levels"), says)
    prompts, answers = facts.number("metrics.prompt_rate"), facts.number("metrics.generation_rate")
    if not prompts or not answers:
        return None
    says = f"{prompts:.4g} prompt tokens a second against {answers:.4g} generated"
    return Known(kept * prompts / answers, facts.cite("metrics.prompt_rate", "metrics.generation_rate"), says)


def _apart(facts: Facts) -> Observation | None:
    """A node of a disaggregated pair: long prompts take nothing from its decoding, and the remedy is in place."""
    role = facts.arg_text("disaggregation_mode")
    if role not in ("prefill", "decode"):
        return None
    says = f"disaggregation_mode {role}: prefill and decode run apart already"
    return Observation(says, facts.cite_args("disaggregation_mode"), 0.05, 0.5)


def _prefill_alone(facts: Facts) -> Observation | None:
    """A run whose answers are a token or two measures prefill on purpose: no decoding waits for it."""
    rows = [row for row in bench_rows(facts) if number(row.get("output_len")) > 0]
    if not rows or any(number(row.get("output_len")) > MEASURES_PREFILL for row in rows):
        return None
    says = f"answers of {number(rows[0].get('output_len')):g} tokens: prefill is what was measured"
    return Observation(says, facts.cite("bench.levels"), 0.1, 0.4)


def _ratio(facts: Facts) -> Observation | None:
    known = prompt_over_answer(facts)
    if known is None:
        return None
    if known.value >= 8:
        return Observation(known.says, known.cites, 0.9, 0.06)
    if known.value >= 4:
        return Observation(known.says, known.cites, 0.6, 0.2)
    return Observation(known.says, known.cites, 0.04, 0.6) if known.value <= 2 else None


def _lines(facts: Facts) -> Observation | None:
    """A prefill line stands for one batch, a decode line for 40 steps: an even share of lines is much prefill."""
    share, size = facts.number("prefill.share_of_lines"), facts.number("prefill.tokens_per_line.mean")
    if share is None:
        return None
    says = f"{share:.0%} of the batch lines are prefill" + (f", of {size:.0f} tokens each" if size is not None else "")
    cites = facts.cite("prefill.share_of_lines", "prefill.tokens_per_line.mean")
    if share >= 0.5 and size is not None and size >= 1024:
        return Observation(says, cites, 0.8, 0.08)
    return Observation(says, cites, 0.1, 0.6) if share <= 0.2 else None


def _first_token(facts: Facts) -> Observation | None:
    """Share of a request that passes before its first token, where nothing waits in the queue."""
    if (facts.number("decode.queue_share") or 0.0) > 0.2:
        return None
    for row in bench_rows(facts):
        ttft, answer = number(row.get("mean_ttft_ms")), number(row.get("output_len"))
        between = number(row.get("mean_tpot_ms")) or number(row.get("mean_itl_ms"))
        if ttft <= 0 or answer < 1 or between <= 0 or row.get("streamed") is False:
            continue
        share = ttft / (ttft + between * (answer - 1))
        says = f"{share:.0%} of a request passes before its first token"
        if share >= 0.5:
            return Observation(says, facts.cite("bench.levels"), 0.7, 0.1)
        if share > 0.15 or (facts.number("prefill.share_of_lines") or 0.0) >= 0.5:
            return None  # other prompts' prefill then lies between the tokens of this one, not before its first
        return Observation(says, facts.cite("bench.levels"), 0.15, 0.6)
    return None


def _cache(facts: Facts) -> Observation | None:
    share = cached_share(facts)
    if share is None or not prompts_share(facts) or share.value >= 0.3:
        return None
    says = f"prompts share their beginnings and {share.says}: the work need not be there"
    return Observation(says, share.cites, 0.15, 0.4)


CAUSE = PrefillDominated()
