"""PP005 long prompts stall decoding

What it is
    A prompt longer than a chunk takes one slot of the ring after the other, chunk by chunk, and prefill goes first in
    every slot. Until its last chunk is in, no request decodes a token.

Why it matters
    Everybody's stream stops for as long as one prompt of somebody takes: seconds for a long one. A pipeline feels it
    more than one GPU, since every slot is drawn in.

Signals
    Runs of prefill lines with pending tokens and no decode line between them; a long gap between decode lines while
    requests run; a tail of inter-token latency far above its middle.

What refutes it
    Prompts that fit into a chunk. A server that only prefills. One stage (then it is PR001).

Remedies
    Decode rounds between chunks (--prefill-decode-interval, from 0.5.19), mixed chunks (with a pipeline from 0.5.11),
    smaller chunks, or prefill on servers of its own. Each lets the long prompt wait longer.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.prompts import chunk_tokens, longest_prompt_tokens, pending_of_one, prefills_only
from ppagent.causes.sighting import version
from ppagent.causes.situation import stages
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

LONG_GAP_S = 5.0
SPIKE = 5.0


class LongPromptsStallDecoding:
    id = "PP005"
    name = "long prompts stall decoding"
    prior = 0.06
    wants = (
        "args.pp_size",
        "args.chunked_prefill_size",
        "prefill.longest_run",
        "prefill.pending_tokens.max",
        "prefill.tokens_per_line.max",
        "decode.longest_gap_s",
        "bench.levels",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring, prefiller = stages(facts), prefills_only(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.005, 0.5),)
        if prefiller is not None:
            return (Observation(prefiller.says, prefiller.cites, 0.002, 0.5),)
        found = (_short(facts), _runs(facts, ring.value), _gap(facts), _spikes(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2 or prefills_only(facts) is not None or _short(facts) is not None:
            return ()
        asked = []
        if facts.number("prefill.longest_run") is None:
            asked.append(Probe("logs.prefill", "whether prefill runs keep decoding out is not known", 0))
        if facts.number("decode.longest_gap_s") is None:
            asked.append(Probe("logs.decode", "how long decoding pauses is not known", 0))
        return tuple(asked)

    def advise(self, facts: Facts) -> Advice:
        chunk, cites = chunk_tokens(facts), _cites(facts)
        remedies = [_interval(cites), _mixed(facts, cites)]
        if chunk is not None and chunk.value >= 2048:
            remedies.append(_halve(chunk.value, cites + chunk.cites))
        declined = Declined(
            "--pp-async-batch-depth",
            "more slots are drawn into the same prompt, decoding stops as before",
            cites,
        )
        return Advice(tuple(r for r in remedies if r is not None), (declined,))


def _cites(facts: Facts) -> tuple[str, ...]:
    return facts.cite("prefill.longest_run", "prefill.pending_tokens.max", "decode.longest_gap_s")


def _short(facts: Facts) -> Observation | None:
    chunk, prompt = chunk_tokens(facts), longest_prompt_tokens(facts)
    if chunk is None or prompt is None or chunk.value < 0 or prompt.value > 0.75 * chunk.value:
        return None
    says = f"{prompt.says}, {chunk.says}: no prompt needs a second one"
    return Observation(says, prompt.cites + chunk.cites, 0.04, 0.6)


def _runs(facts: Facts, ring_stages: float) -> Observation | None:
    """A decode line comes once in `decode_log_interval` steps, so a run of prefill lines alone says little; full chunks
    with more pending do."""
    run, chunk = facts.number("prefill.longest_run"), chunk_tokens(facts)
    if run is None or chunk is None or chunk.value < 0 or not facts.number("decode.lines"):
        return None
    if run < max(4.0, ring_stages):
        return None
    pending = pending_of_one(facts)
    if pending is not None and pending >= 2 * chunk.value:
        says = f"{run:g} prefill lines in a row with up to {pending:g} tokens pending ({chunk.says})"
        cites = facts.cite("prefill.longest_run", "prefill.pending_tokens.max") + chunk.cites
        return Observation(says, cites, 0.85, 0.06)
    full = facts.number("prefill.tokens_per_line.max")
    if facts.number("prefill.pending_tokens.max") is None and full is not None and full >= 0.95 * chunk.value:
        says = f"{run:g} prefill lines in a row, with chunks filled to {full:g} of {chunk.value:g} tokens"
        return Observation(says, facts.cite("prefill.longest_run", "prefill.tokens_per_line.max"), 0.7, 0.15)
    return None


def _gap(facts: Facts) -> Observation | None:
    gap_s = facts.number("decode.longest_gap_s")
    if gap_s is None or not facts.number("prefill.lines"):
        return None
    cites = facts.cite("decode.longest_gap_s")
    if gap_s >= LONG_GAP_S:
        return Observation(f"{gap_s:.1f} s without a decode line while requests ran", cites, 0.7, 0.15)
    return None


def _spikes(facts: Facts) -> Observation | None:
    for row in facts.items("bench.levels"):
        if not isinstance(row, dict):
            continue
        tail, middle = row.get("p99_itl_ms"), row.get("median_itl_ms") or row.get("mean_itl_ms")
        if isinstance(tail, int | float) and isinstance(middle, int | float) and middle and tail >= SPIKE * middle:
            says = f"inter-token latency: p99 {tail:.0f} ms, middle {middle:.0f} ms"
            return Observation(says, facts.cite("bench.levels"), 0.7, 0.15)
    return None


def _interval(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP005",
        "relaunch",
        "Run decode rounds between the chunks of a long prompt",
        Change(set={"--prefill-decode-interval": "1"}),
        cites,
        risks=("long prompts take longer to their first token",),
        verify="decode lines between prefill lines, p99 of inter-token latency, time to first token of long prompts",
        rollback="without the flag",
    )


def _mixed(facts: Facts, cites: tuple[str, ...]) -> Remedy | None:
    """Refused with a pipeline up to 0.5.10."""
    if at_least(version(facts), "0.5.11") is False or facts.arg_flag("enable_mixed_chunk"):
        return None
    return Remedy(
        "PP005",
        "relaunch",
        "Let decode steps ride along with prefill chunks",
        Change(set={"--enable-mixed-chunk": "true"}),
        cites,
        risks=("mixed steps run without decode graphs", "not together with every speculative algorithm"),
        verify="p99 of inter-token latency with the same mix of prompts",
        rollback="without the flag",
        alone=True,
    )


def _halve(chunk: float, cites: tuple[str, ...]) -> Remedy:
    half = max(1024, int(chunk) // 2)
    return Remedy(
        "PP005",
        "relaunch",
        f"Smaller chunks: {half} instead of {chunk:g} tokens, so that a round takes less time",
        Change(set={"--chunked-prefill-size": str(half)}),
        cites,
        risks=("prefill of long prompts gets a little slower", "it must stay a multiple of the page size"),
        verify="longest pause of decoding, and input tok/s",
        rollback=f"--chunked-prefill-size {chunk:g}",
        alone=True,
    )


CAUSE = LongPromptsStallDecoding()
