"""Facts made by hand, one piece of evidence a family, so that tests can say what is cited."""

from collections import defaultdict
from collections.abc import Mapping

from ppagent.causes.cause import Cause
from ppagent.causes.judge import Judgement, judge
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from ppagent.evidence.vocabulary import known

_AUTHORITY = {"args": 3, "internal": 3, "metrics": 3, "loads": 3, "decode": 2, "prefill": 2, "start": 2, "trouble": 2}


def facts_of(values: Mapping[str, FactValue]) -> Facts:
    """Facts by name, each family (`args`, `decode`, ...) as one piece of evidence called after it."""
    families: dict[str, dict[str, FactValue]] = defaultdict(dict)
    for name, value in values.items():
        assert known(name), f"{name} is not in the vocabulary"
        families[name.partition(".")[0]][name] = value
    return Facts(
        Evidence(family, f"{family}.tool", family, rows, authority=_AUTHORITY.get(family, 1))
        for family, rows in families.items()
    )


def judged(cause: Cause, values: Mapping[str, FactValue]) -> Judgement:
    """The judgement of `cause`; whatever it claims must cite evidence that is there and be honest about doubt."""
    facts = facts_of(values)
    judgement = judge(cause, facts)
    for observation in (*judgement.because, *judgement.against):
        assert observation.cites, observation.says
        assert set(observation.cites) <= {name.partition(".")[0] for name in values}, observation.cites
        assert 0 < observation.if_true < 1 and 0 < observation.if_false < 1
        assert not observation.says.endswith(".")
    for remedy in cause.advise(facts).remedies if judgement.state == "supported" else ():
        assert remedy.cites and remedy.verify and remedy.rollback and remedy.cause == cause.id
    return judgement


def level(concurrency: float, rate: float, **rest: FactValue) -> FactValue:
    """One row of bench.levels."""
    return {"concurrency": concurrency, "output_throughput": rate, **rest}


def seed_case() -> dict[str, FactValue]:
    """Eight stages, eight requests in a few slots, graphs off by flag: nothing is wrong with KV, host or drafts."""
    return {
        "args.pp_size": 8,
        "args.tp_size": 1,
        "args.disable_cuda_graph": True,
        "args.attention_backend": "triton",
        "launch.command": "python -m sglang.launch_server --pp-size 8 --disable-cuda-graph",
        "internal.max_running_requests": 2048,
        "decode.lines": 60,
        "decode.running_req.mean": 2.5,
        "decode.running_req.p95": 3,
        "decode.running_req.max": 3,
        "decode.queue_req.mean": 0,
        "decode.queue_req.max": 0,
        "decode.queue_share": 0.0,
        "decode.token_usage.max": 0.03,
        "decode.token_usage.p50": 0.02,
        "decode.graph_true_share": 0.0,
        "decode.graph_label": "cuda",
        "decode.throughput.p50": 68.0,
        "decode.throughput.p95": 95.0,
        "decode.throughput.max": 97.0,
        "bench.levels": [level(1, 24.7), level(4, 68.3), level(8, 95.6)],
        "stated.sentences": ["gpu util at 150/200 out of 600", "nvidia-smi showed 0 % on all GPUs in one snapshot"],
    }


def healthy_server() -> dict[str, FactValue]:
    """Two tensor-parallel cards at a good load: graphs on, little queue, a pool half full."""
    return {
        "args.pp_size": 1,
        "args.tp_size": 2,
        "args.dp_size": 1,
        "args.speculative_algorithm": None,
        "args.schedule_conservativeness": 1.0,
        "launch.command": "python -m sglang.launch_server --tp-size 2",
        "internal.max_running_requests": 512,
        "decode.lines": 400,
        "decode.running_req.mean": 60,
        "decode.running_req.p95": 64,
        "decode.running_req.max": 64,
        "decode.queue_req.mean": 0.02,
        "decode.queue_req.max": 2,
        "decode.queue_share": 0.01,
        "decode.token_usage.max": 0.55,
        "decode.token_usage.p50": 0.45,
        "decode.graph_true_share": 0.99,
        "decode.graph_label": "cuda",
        "decode.throughput.p50": 2400.0,
        "decode.throughput.p95": 2500.0,
        "decode.throughput.max": 2600.0,
        "prefill.lines": 40,
        "prefill.cached_share": 0.02,
        "prefill.share_of_lines": 0.1,
        "bench.levels": [
            level(32, 1700, mean_itl_ms=18.5, mean_ttft_ms=110, input_len=512, output_len=512, streamed=True),
            level(64, 2450, mean_itl_ms=25.8, mean_ttft_ms=160, input_len=512, output_len=512, streamed=True),
        ],
    }
