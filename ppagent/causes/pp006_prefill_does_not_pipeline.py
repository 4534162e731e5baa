"""PP006 prefill does not pipeline

What it is
    One prompt keeps several stages at work only when it is cut into chunks that follow each other through the ring.
    With chunking off, or chunks as large as the prompts, a prompt crosses the stages as one batch and one stage works
    at a time. With very many equal chunks the later ones take longer, and gaps open between the stages.

Why it matters
    Time to first token is about the sum over all stages. With m chunks on P stages the share of busy stages is
    m / (m + P - 1): 12 % for one chunk on eight stages, 53 % for eight.

Signals
    chunked_prefill_size -1 with long prompts; prompts of thousands of tokens that fit one chunk, with fewer of them in
    flight than stages; prompts of dozens of chunks without dynamic chunk sizes.

What refutes it
    Prompts of a few hundred tokens: there is nothing to cut. Prompts of about as many chunks as stages, or enough
    prompts at a time to fill the stages with one chunk each. One stage.

Remedies
    A chunk size that cuts a prompt into about twice as many chunks as stages; dynamic chunk sizes for very long ones
    (from 0.5.7). Small chunks cost efficiency, so measure.
"""

from ppagent.causes.cause import STAGES_ASKED, Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.prompts import chunk_tokens, longest_prompt_tokens
from ppagent.causes.sighting import version
from ppagent.causes.situation import Known, in_flight, stages
from ppagent.evidence.facts import Facts
from ppagent.sglang.versions import at_least

LONG_TOKENS = 2048.0
SHORT_TOKENS = 1024.0
SMALLEST_CHUNK = 1024
MANY_CHUNKS = 16.0


class PrefillDoesNotPipeline:
    id = "PP006"
    name = "prefill does not pipeline"
    prior = 0.05
    wants = (
        "args.pp_size",
        "args.chunked_prefill_size",
        "prefill.tokens_per_line.max",
        "prefill.new_seq.mean",
        "bench.levels",
        "args.enable_dynamic_chunking",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        ring, chunk, prompt = stages(facts), chunk_tokens(facts), longest_prompt_tokens(facts)
        if ring is None:
            return ()
        if ring.value < 2:
            return (Observation("there is one pipeline stage only", ring.cites, 0.001, 0.5),)
        if prompt is not None and prompt.value < SHORT_TOKENS:
            return (Observation(f"{prompt.says}: too short to cut", prompt.cites, 0.04, 0.6),)
        if chunk is None:
            return ()
        if chunk.value < 0:
            return (_off(chunk, prompt),)
        return () if prompt is None else _cut(facts, ring, chunk, prompt)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        ring = stages(facts)
        if ring is None:
            return (STAGES_ASKED,)
        if ring.value < 2:
            return ()
        asked = []
        if longest_prompt_tokens(facts) is None:
            asked.append(Probe("logs.prefill", "how long prompts are is not known", 0))
        if chunk_tokens(facts) is None:
            asked.append(Probe("http.info", "the chunk size in effect is not known", 1))
        return tuple(asked)

    def advise(self, facts: Facts) -> Advice:
        ring, chunk, prompt = stages(facts), chunk_tokens(facts), longest_prompt_tokens(facts)
        if ring is None or chunk is None:
            return Advice()
        cites = chunk.cites + (prompt.cites if prompt is not None else ())
        many = prompt is not None and chunk.value > 0 and prompt.value >= MANY_CHUNKS * chunk.value
        remedy = _dynamic(cites) if many else _smaller(_good_chunk(ring.value, prompt), chunk.value, cites)
        declined = Declined("--max-prefill-tokens", "it bounds a batch of prompts, and cuts none of them", cites)
        return Advice((remedy,), (declined,))


def _off(chunk: Known, prompt: Known | None) -> Observation:
    if prompt is None:
        return Observation(chunk.says, chunk.cites, 0.6, 0.03)
    says = f"{chunk.says}, with {prompt.says}"
    likely = 0.8 if prompt.value >= LONG_TOKENS else 0.5
    return Observation(says, chunk.cites + prompt.cites, likely, 0.012 if prompt.value >= LONG_TOKENS else 0.1)


def _cut(facts: Facts, ring: Known, chunk: Known, prompt: Known) -> tuple[Observation, ...]:
    """Chunks of one prompt against stages, and prompts at a time against stages."""
    chunks, load = prompt.value / chunk.value, in_flight(facts)
    says = f"{prompt.says}, {chunk.says}, {ring.value:g} stages"
    cites = prompt.cites + chunk.cites + ring.cites
    if chunks >= MANY_CHUNKS:
        return _many(facts, says, cites)
    if chunks >= ring.value / 2:
        return (Observation(f"{says}: a prompt keeps most stages at work", cites, 0.06, 0.5),)
    if chunks > 1 or prompt.value < LONG_TOKENS:
        return ()
    if load is None:
        return (Observation(f"{says}: a prompt is one chunk", cites, 0.6, 0.1),)
    if load.value < ring.value:
        says = f"{says}: a prompt is one chunk, and {load.value:g} at a time cannot fill the stages"
        return (Observation(says, cites + load.cites, 0.8, 0.012),)
    return (Observation(f"{says}: enough prompts at a time, {load.value:g}, fill the stages", cites, 0.15, 0.4),)


def _many(facts: Facts, says: str, cites: tuple[str, ...]) -> tuple[Observation, ...]:
    """Each chunk attends to all before it, so equal chunks of a very long prompt take ever longer."""
    if facts.arg_flag("enable_dynamic_chunking"):
        return (Observation(f"{says}: chunk sizes adapt", cites, 0.1, 0.4),)
    if at_least(version(facts), "0.5.7") is False:
        return ()
    return (Observation(f"{says}: many equal chunks, the later ones longer", cites, 0.5, 0.12),)


def _good_chunk(ring_stages: float, prompt: Known | None) -> int:
    """Twice as many chunks as stages, in steps of 512 tokens, no smaller than kernels bear."""
    if prompt is None:
        return 4096
    wanted = int(prompt.value / (2 * ring_stages)) // 512 * 512
    return min(max(wanted, SMALLEST_CHUNK), 8192)


def _smaller(wanted: int, now: float, cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP006",
        "relaunch",
        f"Cut prompts into chunks of {wanted} tokens",
        Change(set={"--chunked-prefill-size": str(wanted)}),
        cites,
        risks=("small chunks use the cards less well; decoding pauses while a chunked prompt is in",),
        verify="time to first token of a long prompt, and input tok/s at the working concurrency",
        rollback=f"--chunked-prefill-size {now:g}",
    )


def _dynamic(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "PP006",
        "relaunch",
        "Let chunk sizes shrink along a long prompt, so that chunks take equal time",
        Change(set={"--enable-dynamic-chunking": "true"}),
        cites,
        risks=("the start takes longer, since stage 0 times prefills", "a larger base chunk suits it better"),
        verify="time to first token of the longest prompts",
        rollback="without the flag",
    )


CAUSE = PrefillDoesNotPipeline()
