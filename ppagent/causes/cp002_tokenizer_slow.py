"""CP002 tokenizer or detokenizer slow

What it is
    The engine decodes fast and the text reaches the client late: one Python process turns tokens into text (or text
    into tokens) for all requests, and cannot keep up.

Why it matters
    Users see a slow server whose log looks fine. Nothing that speeds up the cards changes what they see.

Signals
    A latency between tokens at the client far above the engine's own, which is running requests over generation
    throughput; it appears with large batches only. A warning that a slow tokenizer is used. A tokenizer or
    detokenizer process at a full core. First tokens that take seconds while nothing waits in the scheduler's queue.

What refutes it
    Client and engine agree. A slow-tokenizer warning alone is common and often harmless.

Remedies
    A fast tokenizer, fewer and larger pieces per stream, more workers, or no tokenizer in the server at all where the
    client can work with token ids.
"""

from collections.abc import Mapping

from ppagent.causes.admission import queue, retractions, standing_queue
from ppagent.causes.cause import Advice, Declined, Observation, Probe
from ppagent.causes.latency import client_itl, engine_itl
from ppagent.causes.rows import bench_rows, number
from ppagent.causes.situation import Known, in_flight
from ppagent.causes.text_remedies import fast_tokenizer, larger_pieces, more_workers, no_tokenizer
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts

LONG_FIRST_MS, MANY_TURNS, SHORT_PROMPT = 1000.0, 10, 512
"""A time to first token that neither a turn or two nor the prefill of a short prompt explains."""

LUMPS, HARDLY_WAITS = 8, 0.25
"""Times the mean between two tokens that make a stream lumpy; requests in the queue that are as good as none."""

ARRIVED = 0.7
"""Share of the requests under way that the tokens held allow, below which some have not reached the scheduler."""


class TokenizerSlow:
    id = "CP002"
    name = "tokenizer or detokenizer slow"
    prior = 0.03
    wants = (
        "bench.levels",
        "metrics.itl_ms",
        "decode.throughput.p95",
        "decode.running_req.p95",
        "trouble.slow_tokenizer",
        "host.tokenizer_cpu_percent",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        inward = tuple(
            o for o in (_before_the_scheduler(facts), _not_arrived(facts), _in_lumps(facts)) if o is not None
        )
        late = _late(facts)
        if inward and late is not None and not late.supports:
            late = None  # text that comes out in time says nothing of text that goes in slowly
        found = (late, _warned(facts), _process(facts), *inward)
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        found = []
        if engine_itl(facts) is None:
            found.append(Probe("logs.decode", "the engine's own time between tokens is not known", 0))
        if client_itl(facts) is None:
            found.append(Probe("bench.results", "the time between tokens at the client is not known", 0))
        if found and not facts.numbers("host.tokenizer_cpu_percent"):
            found.append(Probe("host.processes", "the tokenizer process's use of its core is not known", 2))
        return tuple(found)

    def advise(self, facts: Facts) -> Advice:
        known = client_itl(facts) or _process_known(facts)
        cites = known.cites if known is not None else facts.cite("trouble.slow_tokenizer")
        slow = bool(facts.number("trouble.slow_tokenizer"))
        fast, ids = fast_tokenizer(self.id, cites), no_tokenizer(self.id, cites)
        pieces, workers = larger_pieces(self.id, cites), more_workers(self.id, facts, cites)
        order = (fast, ids, pieces) if slow else (pieces, workers, ids)
        if _before_the_scheduler(facts) is not None:
            order = (workers, fast, ids)  # text goes in slowly, so larger pieces on the way out would not help
        why = "the engine keeps up; a larger batch makes more text for the same process"
        return Advice(order, (Declined("--max-running-requests", why, cites),))


def _before_the_scheduler(facts: Facts) -> Observation | None:
    """First tokens that take many turns though nothing waits in the scheduler: the time goes before it, in the process
    that tokenizes (or in the client). Long prompts are left out, since their prefill takes time of its own."""
    row = _busiest(facts, "mean_ttft_ms", "mean_itl_ms")
    if row is None or not _nothing_waits(facts):
        return None
    first_ms, turn_ms, prompt = (number(row.get(name)) for name in ("mean_ttft_ms", "mean_itl_ms", "input_len"))
    if first_ms < LONG_FIRST_MS or first_ms < MANY_TURNS * turn_ms or not _short(facts, prompt):
        return None
    says = (
        f"first tokens of prompts of {prompt:g} tokens take {first_ms:.4g} ms, {first_ms / turn_ms:.0f} times the "
        "time between tokens, and nothing waits in the scheduler's queue"
    )
    return Observation(says, facts.cite("bench.levels", "decode.queue_share"), 0.85, 0.03)


def _not_arrived(facts: Facts) -> Observation | None:
    """Requests that the clients have under way and the scheduler does not hold: fewer tokens than their prompts."""
    held, load = facts.number("decode.tokens.mean"), in_flight(facts)
    prompts = [number(row.get("input_len")) for row in bench_rows(facts) if number(row.get("input_len")) > 0]
    if not held or load is None or not prompts or not _nothing_waits(facts) or load.value < 4:
        return None
    most = held / min(prompts)
    if most > ARRIVED * load.value:
        return None
    says = f"{held:.0f} tokens held are at most {most:.0f} requests, and the clients have {load.value:.3g} under way"
    return Observation(says, facts.cite("decode.tokens.mean") + load.cites, 0.6, 0.08)


def _in_lumps(facts: Facts) -> Observation | None:
    """Streams that stop for seconds although prompts are short and nothing was thrown back: whoever sends the text out
    was busy with something else."""
    row, thrown_back = _busiest(facts, "p99_itl_ms", "mean_itl_ms"), retractions(facts)
    if row is None or not _nothing_waits(facts) or thrown_back is None or thrown_back.value > 0:
        return None
    longest_ms, mean_ms, prompt = (number(row.get(name)) for name in ("p99_itl_ms", "mean_itl_ms", "input_len"))
    if longest_ms < LONG_FIRST_MS or longest_ms < LUMPS * mean_ms or not _short(facts, prompt):
        return None
    says = f"one token in a hundred comes {longest_ms:.4g} ms after the one before, against {mean_ms:.4g} ms on average"
    return Observation(says, facts.cite("bench.levels") + thrown_back.cites, 0.6, 0.06)


def _busiest(facts: Facts, *measured: str) -> Mapping[str, FactValue] | None:
    """The row of most clients in which all these were measured."""
    rows = [row for row in bench_rows(facts) if all(number(row.get(name)) > 0 for name in measured)]
    return max(rows, key=lambda row: number(row.get("concurrency")), default=None)


def _short(facts: Facts, prompt: float) -> bool:
    """Whether prompts are too short to delay anything, those of others on the server too, as far as the log shows."""
    seen = (facts.number("prefill.tokens_per_line.max"), facts.number("prefill.pending_tokens.max"))
    return 0 < prompt <= SHORT_PROMPT and all(tokens is None or tokens <= 2 * SHORT_PROMPT for tokens in seen)


def _nothing_waits(facts: Facts) -> bool:
    waits = queue(facts)
    return waits is not None and waits.value < HARDLY_WAITS and standing_queue(facts) is not True


def _late(facts: Facts) -> Observation | None:
    seen, own = client_itl(facts), engine_itl(facts)
    if seen is None or own is None:
        return None
    ratio = seen.value / own.value
    says = f"{seen.says}, {own.says}: {ratio:.1f} times"
    cites = tuple(dict.fromkeys(seen.cites + own.cites))
    if ratio >= 2.5:
        return Observation(says, cites, 0.9, 0.008)
    if ratio >= 1.8:
        return Observation(says, cites, 0.6, 0.06)
    return Observation(says, cites, 0.05, 0.8) if ratio <= 1.4 else None


def _warned(facts: Facts) -> Observation | None:
    if not facts.number("trouble.slow_tokenizer"):
        return None
    return Observation("the server warns of a slow tokenizer", facts.cite("trouble.slow_tokenizer"), 0.7, 0.1)


def _process_known(facts: Facts) -> Known | None:
    percent = facts.numbers("host.tokenizer_cpu_percent")
    if not percent:
        return None
    title = max(percent, key=percent.__getitem__)
    says = f"{title} uses {percent[title]:.0f} % of a core"
    return Known(percent[title], facts.cite("host.tokenizer_cpu_percent"), says)


def _process(facts: Facts) -> Observation | None:
    known = _process_known(facts)
    if known is None:
        return None
    if known.value >= 90:
        return Observation(known.says, known.cites, 0.8, 0.05)
    # One look of a second or less, and such work comes in bursts.
    return Observation(known.says, known.cites, 0.35, 0.6) if known.value <= 50 else None


CAUSE = TokenizerSlow()
