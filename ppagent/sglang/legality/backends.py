"""Attention backends: page sizes they force, cards they run on. Bounds were read in the packages 0.4.7 to 0.5.23."""

from collections.abc import Iterator
from dataclasses import dataclass

from ppagent.sglang.legality.case import HOOKS, Case, Stated
from ppagent.sglang.legality.gpus import compute_capability
from ppagent.sglang.legality.problem import Problem

_ATTENTION = "_handle_attention_backend_compatibility"
_OVERRIDES = HOOKS + "overrides.py"
_PAGES = "_mla_backend_page_constraints"
_HOOK = HOOKS + "attention_hook.py"
_REGISTRY = "srt/layers/attention/attention_registry.py"
_FA3 = Stated(
    "FlashAttention v3 Backend requires",
    "create_flashattention_v3_backend",
    _REGISTRY,
    file="srt/model_executor/model_runner.py",
    moved="0.5.3",
)
_FA3_FP8 = Stated(
    "Setting attention backend to triton", _ATTENTION, _OVERRIDES, "_attention_backend_fa3_fp8_fallback", moved="0.5.15"
)
_FLEX = Stated("not supported with Flex Attention", _ATTENTION, _HOOK, "handle_attention_backend_compatibility")
_MLA_CARD = Stated(
    "TRTLLM MLA backend is only supported on", _ATTENTION, _OVERRIDES, "_mla_kv_cache_dtype_checks", moved="0.5.15"
)
_MHA_PREFILL = Stated("TRTLLM MHA backend for prefill", _ATTENTION, _HOOK, "handle_attention_backend_compatibility")
_MHA_DECODE = Stated("TRTLLM MHA backend for decode", _ATTENTION, _HOOK, "handle_attention_backend_compatibility")
_MHA_BOTH = Stated("TRTLLM MHA backend is only supported on", _ATTENTION)
_MHA_FP8 = Stated("TRTLLM FMHAv2 prefill on SM120", _ATTENTION, _HOOK, "handle_attention_backend_compatibility")


@dataclass(frozen=True)
class PageRule:
    """Page sizes a backend takes, and the one it is given otherwise; in versions `since` to before `until`."""

    backend: str
    fragment: str
    allowed: tuple[int, ...]
    otherwise: int
    since: str = "0.4.7"
    until: str | None = None

    @property
    def stated(self) -> Stated:
        return Stated(self.fragment, _ATTENTION, _OVERRIDES, _PAGES, moved="0.5.15")


_PAGE_RULES = (
    PageRule("flashmla", "FlashMLA only supports a page_size", (64,), 64),
    PageRule("cutlass_mla", "Cutlass MLA only supports a page_size", (128,), 128, until="0.5.20"),
    PageRule("trtllm_mla", "TensorRT-LLM MLA only supports page_size", (32, 64), 64, since="0.4.10.post1"),
    PageRule("trtllm_mha", "TensorRT-LLM MHA only supports page_size", (16, 32, 64), 64, "0.5.1", "0.5.17"),
    PageRule("trtllm_mha", "TensorRT-LLM MHA only supports page_size", (16, 32, 64, 128), 64, since="0.5.17"),
)


def prefill_and_decode(case: Case) -> tuple[str | None, str | None]:
    """The backends that the command asks for, one each for prefill and decode."""
    both = case.text("attention_backend")
    return case.text("prefill_attention_backend") or both, case.text("decode_attention_backend") or both


def page_rule(case: Case) -> PageRule | None:
    """The rule of the backend in use; the MLA ones look at the decode side, trtllm_mha at either."""
    prefill, decode = prefill_and_decode(case)
    for rule in _PAGE_RULES:
        used = rule.backend in (prefill, decode) if rule.backend == "trtllm_mha" else rule.backend == decode
        if used and case.since(rule.since) and not (rule.until and case.since(rule.until)):
            return rule
    return None


def forced_page_size(case: Case) -> int | None:
    """The page size a backend settles on whatever was asked; None where it takes the one asked for."""
    rule = page_rule(case)
    if rule is None or case.number("page_size") in rule.allowed:
        return None
    return rule.otherwise


def page_size_is_overruled(case: Case) -> Iterator[Problem]:
    """The server warns and goes on with its own page size."""
    rule, page = page_rule(case), case.number("page_size")
    if rule is None or not case.given("page_size") or page is None or page in rule.allowed:
        return
    says = f"{rule.backend} does not take pages of {page}; the server uses {rule.otherwise}."
    instead = f"{case.spelled('page_size')} {rule.otherwise}"
    yield from case.problems("ignored", "page_size", says, instead, rule.stated)


def fa3_with_fp8(case: Case) -> Iterator[Problem]:
    """0.5.4.post1+: fa3 knows one FP8 format only and gives way to triton."""
    asked = case.text("attention_backend") == "fa3" and case.text("kv_cache_dtype") == "fp8_e5m2"
    if asked and case.since("0.5.4.post1"):
        says = "fa3 has no fp8_e5m2 cache; the server takes the triton backend instead."
        instead = f"{case.spelled('kv_cache_dtype')} fp8_e4m3"
        yield from case.problems("ignored", "attention_backend", says, instead, _FA3_FP8)


def flex_with_speculation(case: Case) -> Iterator[Problem]:
    """0.5.3+: flex_attention does not speculate."""
    if case.text("attention_backend") == "flex_attention" and case.given("speculative_algorithm"):
        says = "Speculative decoding does not run on flex_attention."
        yield from case.problems("refused", "attention_backend", says, "another --attention-backend", _FLEX)


def card_and_backend(case: Case) -> Iterator[Problem]:
    """Backends that a card of this kind does not run. Says nothing about a card that is not known."""
    capability = compute_capability(case.gpu)
    if capability is None:
        return
    prefill, decode = prefill_and_decode(case)
    if "fa3" in (prefill, decode) and capability // 10 not in (8, 9):
        yield from _refuse(case, "fa3", capability, "flashinfer", _FA3)
    if decode == "trtllm_mla" and case.since("0.4.10.post1"):
        yield from _trtllm_mla(case, capability)
    if "trtllm_mha" in (prefill, decode) and case.since("0.5.1"):
        yield from _trtllm_mha(case, capability, prefill, decode)


def _refuse(case: Case, backend: str, capability: int, instead: str, stated: Stated) -> Iterator[Problem]:
    dests = ("attention_backend", "prefill_attention_backend", "decode_attention_backend")
    dest = next((dest for dest in dests if case.text(dest) == backend), dests[0])
    says = f"{backend} does not run on {case.gpu} (SM{capability}) in {case.catalogue.version}."
    yield from case.problems("refused", dest, says, f"{case.spelled(dest)} {instead}", stated)


def _trtllm_mla(case: Case, capability: int) -> Iterator[Problem]:
    """SM100 up to 0.5.8; SM12x too from 0.5.9."""
    runs = capability // 10 == 10 or (capability // 10 == 12 and case.since("0.5.9"))
    if not runs:
        yield from _refuse(case, "trtllm_mla", capability, "triton", _MLA_CARD)


def _trtllm_mha(case: Case, capability: int, prefill: str | None, decode: str | None) -> Iterator[Problem]:
    """SM100 only up to 0.5.9; decode on SM90 and SM120 too from 0.5.10, prefill from 0.5.19 (not with FP8 on SM120)."""
    family = capability // 10
    if not case.since("0.5.10"):
        if family != 10:
            yield from _refuse(case, "trtllm_mha", capability, "flashinfer", _MHA_BOTH)
        return
    if decode == "trtllm_mha" and family not in (9, 10, 12):
        yield from _refuse(case, "trtllm_mha", capability, "flashinfer", _MHA_DECODE)
    elif prefill == "trtllm_mha" and family not in ((9, 10, 12) if case.since("0.5.19") else (10,)):
        yield from _refuse(case, "trtllm_mha", capability, "flashinfer", _MHA_PREFILL)
    elif prefill == "trtllm_mha" and family == 12 and case.text("kv_cache_dtype") == "fp8_e4m3":
        yield from _refuse(case, "trtllm_mha", capability, "flashinfer", _MHA_FP8)


RULES = (page_size_is_overruled, fa3_with_fp8, flex_with_speculation, card_and_backend)
