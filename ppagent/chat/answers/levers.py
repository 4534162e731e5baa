"""Launch flags as people call them."""

import re
from collections.abc import Iterable

from ppagent.chat.answers.setting import read_setting

_CALLED: tuple[tuple[str, str], ...] = (
    (r"two.?batch.?overlap|\btbo\b", "--enable-two-batch-overlap"),
    (r"\boverlap", "--disable-overlap-schedule"),
    (r"mixed.?chunk", "--enable-mixed-chunk"),
    (r"dynamic.?chunk", "--enable-dynamic-chunking"),
    (r"chunk(?:ed)?.?(?:prefill|size)|prefill.?chunk", "--chunked-prefill-size"),
    (r"radix|prefix.?cach", "--disable-radix-cache"),
    (r"graph.{0,12}(?:max.?)?(?:\bbs\b|batch)", "--cuda-graph-max-bs"),
    (r"(?:cuda.?)?\bgraphs?\b", "--disable-cuda-graph"),
    (r"custom.?all.?reduce", "--disable-custom-all-reduce"),
    (r"dp.?attention|attention.?dp", "--enable-dp-attention"),
    (r"torch.?compile", "--enable-torch-compile"),
    (r"mem(?:ory)?.?fraction", "--mem-fraction-static"),
    (r"max.?running|max(?:imum)?.?batch(?:.?size)?|batch.?(?:size.?)?limit", "--max-running-requests"),
    (r"kv.?(?:cache)?.?(?:dtype|type|quanti)|(?:fp8|8.?bit).?kv|kv.{0,12}\bfp8", "--kv-cache-dtype"),
    (
        r"attention.?(?:backend|kernel)|flash.?infer|\bfa[34]\b|flash.?(?:attention|mla)|(?:trtllm|cutlass).?mla",
        "--attention-backend",
    ),
    (r"moe.?(?:runner.?)?(?:backend|kernel)", "--moe-runner-backend"),
    (r"quanti[sz]|\bfp[48]\b|nvfp4|\bawq\b|gptq|\bint[48]\b", "--quantization"),
    (r"speculat|eagle|\bmtp\b|draft.?model", "--speculative-algorithm"),
    (r"async.{0,8}depth", "--pp-async-batch-depth"),
    (r"slot.?limit|micro.?batch.?(?:size|limit)|limit per slot", "--pp-max-micro-batch-size"),
    (r"page.?size", "--page-size"),
    (r"schedul\w*.?policy|\blpm\b|\bfcfs\b", "--schedule-policy"),
    (r"context.?len", "--context-length"),
    (r"expert.?parallel", "--ep-size"),
    (r"\bnvls\b", "--enable-nccl-nvls"),
    (r"\bnuma\b", "--numa-node"),
    (r"enable\W+(?:the\W+)?metrics|metrics\W+on\b|/metrics", "--enable-metrics"),
)
"""What people write, most particular first, and the flag of SGLang 0.5.23 or of the version that named it first."""

LEVERS = tuple((re.compile(pattern, re.I), flag) for pattern, flag in _CALLED)


def levers_in(text: str) -> tuple[str, ...]:
    """Flags that `text` names, as it writes them or by what people call them; one name is taken for one flag."""
    setting = read_setting(text)
    named = [*setting.named, *(flag for flag in (*setting.others, *setting.dropped) if flag.startswith("--"))]
    rest = re.sub(r"--[\w-]+", " ", text)
    return tuple(dict.fromkeys([*named, *_called(rest)]))


def _called(text: str) -> Iterable[str]:
    for pattern, flag in LEVERS:
        match = pattern.search(text)
        if match is not None:
            text = f"{text[: match.start()]} {text[match.end() :]}"
            yield flag
