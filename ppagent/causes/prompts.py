"""How long prompts are, against the chunk in which they are prefilled."""

from ppagent.causes.situation import Known, arguments_known, in_flight
from ppagent.evidence.facts import Facts

SEVERAL = 2.0
"""Sequences in a prefill line, on average, from which on it is short prompts that are prefilled."""


def chunk_tokens(facts: Facts) -> Known | None:
    """Tokens of one prefill chunk; -1 where chunking is off."""
    fact = facts.first("args.chunked_prefill_size", "start.chunked_prefill_size", "launch.chunked_prefill_size")
    if fact is None or fact.number is None:
        return None
    size = fact.number if fact.number > 0 else -1.0
    says = "chunked prefill is off" if size < 0 else f"chunks of {size:g} tokens"
    return Known(size, (fact.evidence,), says)


def longest_prompt_tokens(facts: Facts) -> Known | None:
    """Uncached tokens of the longest prompt seen, as far as the evidence reaches: the benchmark's input length, what
    was still pending behind a chunk, or a prefill line that held one prompt."""
    found = [reading for reading in (_by_bench(facts), _by_pending(facts), _by_line(facts)) if reading is not None]
    return max(found, key=lambda known: known.value) if found else None


def _by_bench(facts: Facts) -> Known | None:
    for name in ("bench.levels", "stated.levels"):
        rows = [row.get("input_len") for row in facts.items(name) if isinstance(row, dict)]
        lengths = [float(length) for length in rows if isinstance(length, int | float) and length > 0]
        if lengths:
            return Known(max(lengths), facts.cite(name), f"prompts of {max(lengths):g} tokens")
    return None


def pending_of_one(facts: Facts) -> float | None:
    """Tokens that a chunked prompt has still to come, by `#pending-token` (0.5.11+); None where that may be others'.

    It counts the waiting requests as well (0.5.23: load_inquirer.py, _get_num_pending_tokens): a burst of short
    prompts shows as much.
    """
    pending = facts.number("prefill.pending_tokens.max")
    if pending is None or _of_the_queue(facts, pending):
        return None
    return pending


def _of_the_queue(facts: Facts, pending: float) -> bool:
    """Whether requests of the known length, or several in every line, account for it."""
    load, prompt = in_flight(facts), _by_bench(facts)
    if load is not None and prompt is not None:
        return pending <= load.value * prompt.value
    return (facts.number("prefill.new_seq.mean") or 1.0) > SEVERAL


def _by_pending(facts: Facts) -> Known | None:
    pending, line = pending_of_one(facts), facts.number("prefill.tokens_per_line.max")
    if not pending or line is None:
        return None
    tokens = pending + line
    return Known(tokens, facts.cite("prefill.pending_tokens.max"), f"up to {pending:g} tokens pending behind a chunk")


def _by_line(facts: Facts) -> Known | None:
    most, together = facts.number("prefill.tokens_per_line.max"), facts.number("prefill.new_seq.mean")
    if not most or not together:
        return None
    tokens = most / max(1.0, together)
    says = f"about {tokens:.0f} tokens a prompt in a prefill line"
    return Known(tokens, facts.cite("prefill.tokens_per_line.max"), says)


def prefills_only(facts: Facts) -> Known | None:
    """Known where the server has the prefill role of a pair, so that it decodes nothing."""
    fact = facts.arg("disaggregation_mode")
    if fact is None or fact.value != "prefill" or not arguments_known(facts):
        return None
    return Known(1, (fact.evidence,), "the server only prefills")
