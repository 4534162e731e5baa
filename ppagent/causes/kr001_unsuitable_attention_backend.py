"""KR001 unsuitable attention backend

What it is
    Attention runs on a backend that is slow on this card or for this kind of attention: PyTorch's own, a fallback from
    what was asked for, or a portable one where the architecture has a better.

Why it matters
    Attention's share of a step grows with the context. PyTorch's own backends also switch decode graphs off.

Signals
    `torch_native` or `flex_attention` on a CUDA card; a line about a fallback; a backend other than the architecture's
    default (FA3 on Hopper; TRT-LLM MHA, and FlashInfer for MLA, on B200; FlashInfer, and Triton for MLA, elsewhere,
    RTX PRO and RTX 50 included).

What refutes it
    The architecture's own default, or a launch that leaves the choice to the version. Triton for an MLA model on an RTX
    PRO card is that default.

Remedies
    The default of the architecture, or leaving the flag out; measure both, since models differ.
"""

from ppagent.causes.cards import generation, without_gpu
from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.graphs import launch_seen
from ppagent.causes.kernel_gap import measured_gain, measured_remedy
from ppagent.causes.sighting import trouble, trouble_words
from ppagent.causes.situation import Known, arguments_known
from ppagent.evidence.facts import Facts

PORTABLE = ("torch_native", "flex_attention")
_LEVERS = ("attention-backend", "attention_backend")
_MLA_CLASSES = ("deepseek", "kimi", "glmmoedsa", "glm5", "minicpm3", "longcat")


class UnsuitableAttentionBackend:
    id = "KR001"
    name = "unsuitable attention backend"
    prior = 0.03
    wants = (
        "args.attention_backend",
        "gpu.names",
        "model.architectures",
        "model.kv_lora_rank",
        "trouble.attention_backend_fallback",
        "trial.comparisons",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if none := without_gpu(facts):
            return none
        found = (_portable(facts), _fell_back(facts), _against_default(facts), _left_open(facts), _measured(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        running, usual = _running(facts), _default(facts)
        if without_gpu(facts):
            return ()
        if running is None:
            return () if arguments_known(facts) else (Probe("http.info", "the backend is not known", 1),)
        if running[0] in PORTABLE or (usual is not None and running[0] in usual[0]):
            return ()
        if generation(facts) is None:
            return (Probe("gpu.samples", "which backend suits depends on the card", 2),)
        if usual is None:
            return (Probe("server.model", "whether the model has MLA decides which backend suits", 0),)
        return (Probe("tune.try", f"a relaunch with {usual[0][0]} tells what the backend costs", 5),)

    def advise(self, facts: Facts) -> Advice:
        usual, running = _default(facts), _running(facts)
        cites = (running[1] if running is not None else ()) + facts.cite("trouble.attention_backend_fallback")
        change = Change(set={"--attention-backend": usual[0][0]}) if usual else Change(unset=("--attention-backend",))
        title = f"Use {usual[0][0]}, the default for {usual[1].says}" if usual else "Leave the choice to the version"
        remedy = Remedy(
            self.id,
            "relaunch",
            title,
            change,
            cites + (usual[1].cites if usual is not None else ()),
            risks=("some backends ask for another page size or KV format", "numerics differ slightly"),
            verify="the start log names it, decode lines say cuda graph: True, and tok/s at the same load",
            rollback=f"--attention-backend {running[0]}" if running is not None else "the command that runs now",
        )
        declined = Declined("--disable-cuda-graph", "no suitable backend asks for it", cites)
        measured = measured_remedy(self.id, facts, *_LEVERS)
        return Advice(measured or (remedy,), (declined,))


def _running(facts: Facts) -> tuple[str, tuple[str, ...]] | None:
    """The backend that decodes, and where that stands."""
    for field in ("decode_attention_backend", "attention_backend"):
        fact = facts.arg(field)
        if fact is not None and isinstance(fact.value, str):
            return fact.value, (fact.evidence,)
    chosen = facts.text("trouble.attention_backend_choice.backend")
    return None if chosen is None else (chosen, facts.cite("trouble.attention_backend_choice.backend"))


def _is_mla(facts: Facts) -> bool | None:
    if facts.number("model.kv_lora_rank"):
        return True
    classes = " ".join(str(name) for name in facts.items("model.architectures")).lower()
    if not classes:
        return None
    return any(word in classes for word in _MLA_CLASSES)


def _default(facts: Facts) -> tuple[tuple[str, ...], Known] | None:
    """Backends that suit the card and the model, the version's own choice first (`model_override_base.py:
    get_default_attn_backend` of 0.5.23; alike since 0.5.3)."""
    card, mla = generation(facts), _is_mla(facts)
    if card is None or mla is None:
        return None
    family, known = card
    cites = known.cites + facts.cite("model.kv_lora_rank", "model.architectures")[:1]
    says = f"{'MLA' if mla else 'plain attention'} on {known.says}"
    match family, mla:
        case 90, False:
            suited: tuple[str, ...] = ("fa3", "flashinfer")
        case 90, True:
            suited = ("fa3", "flashmla", "flashinfer", "cutlass_mla")
        case 100, False:
            suited = ("trtllm_mha", "flashinfer", "fa4")
        case 100, True:
            suited = ("flashinfer", "trtllm_mla", "cutlass_mla")
        case 120, False:
            suited = ("flashinfer", "trtllm_mha")
        case 120, True:
            suited = ("triton", "flashinfer", "trtllm_mla")
        case _, False:
            suited = ("flashinfer", "fa3")
        case _:
            suited = ("triton", "flashinfer")
    return suited, Known(family, cites, says)


def _portable(facts: Facts) -> Observation | None:
    running = _running(facts)
    if running is None or running[0] not in PORTABLE:
        return None
    says = f"attention runs on {running[0]}, PyTorch's own, which also rules out graphs"
    return Observation(says, running[1], 0.4, 0.0006)


def _fell_back(facts: Facts) -> Observation | None:
    asked, got = facts.text("launch.attention_backend"), facts.text("args.attention_backend")
    seen = trouble(facts, "attention_backend_fallback")
    if asked and got and asked != got:
        cites = facts.cite("launch.attention_backend", "args.attention_backend")
        return Observation(f"{asked} was asked for and {got} runs", cites, 0.5, 0.02)
    if seen is None:
        return None
    fields = ("set", "fallback", "default", "forced")
    named = (trouble_words(facts, "attention_backend_fallback", field) for field in fields)
    words = next((word for word in named if word), "another backend")
    return Observation(f"SGLang fell back to {words}", seen.cites, 0.4, 0.05)


def _against_default(facts: Facts) -> Observation | None:
    running, usual = _running(facts), _default(facts)
    if running is None or usual is None or running[0] in PORTABLE:
        return None
    backend, cites = running[0], running[1] + usual[1].cites
    if backend in usual[0]:
        return Observation(f"{backend} suits {usual[1].says}", cites, 0.05, 0.8)
    return Observation(f"{backend} runs, where {usual[0][0]} is the default for {usual[1].says}", cites, 0.5, 0.1)


def _left_open(facts: Facts) -> Observation | None:
    """Where nothing names a backend, the version chose for the card it found."""
    if _running(facts) is not None or trouble(facts, "attention_backend_fallback") is not None:
        return None
    if not launch_seen(facts):
        return None
    return Observation("the launch leaves the backend to the version", facts.cite("launch.command"), 0.08, 0.6)


def _measured(facts: Facts) -> Observation | None:
    gain = measured_gain(facts, *_LEVERS)
    return None if gain is None else Observation(gain.says, gain.cites, 0.8, 0.02)


CAUSE = UnsuitableAttentionBackend()
