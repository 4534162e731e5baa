"""Prefill and decode on nodes of their own."""

from ppagent_evals.writing.bench import Row, jsonl
from ppagent_evals.writing.cards import H100
from ppagent_evals.writing.incident import OPERATOR, Answer, Incident, fix, stack
from ppagent_evals.writing.lines import Decode, Prefill, decode_line, prefill_line
from ppagent_evals.writing.machine import commands
from ppagent_evals.writing.models import LLAMA_8B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server


def _split(mode: str) -> Scene:
    flags = {"--disaggregation-mode": mode, "--disaggregation-transfer-backend": "nixl", "--enable-metrics": "true"}
    server = Server(
        "0.5.10", LLAMA_8B, H100, flags=flags, env={"UCX_TLS": "cuda_ipc,cuda_copy,tcp"}, graphs_off=mode == "prefill"
    )
    scene = Scene(f"pd001-transfer-over-tcp-{mode}", server, "2026-05-21T11:12:13")
    scene.start(load_s=9)
    scene.log.at += 12
    for n in range(26):
        scene.log.at += 0.41 + scene.log.rng.uniform(-0.03, 0.03)
        _split_line(scene, mode, n)
    return scene


def _split_line(scene: Scene, mode: str, n: int) -> None:
    version, rng = scene.server.version, scene.log.rng
    if mode == "prefill":
        fields = f"#prealloc-req: 0, #inflight-req: {min(n, 4) + rng.randint(0, 1)}, "
        batch = Prefill(
            1,
            5000,
            0,
            f"token usage: {0.01 + 0.012 * min(n, 4):.2f}, ",
            0,
            0,
            disaggregation=fields,
            input_tokens_per_s=12195 * (1 + rng.uniform(-0.04, 0.04)),
        )
        scene.log.line(prefill_line(version, batch), Rank())
        return
    fields = f"pre-allocated usage: 0.06, #prealloc-req: 0, #transfer-req: {4 + rng.randint(0, 1)}, #retracted-req: 0, "
    decode = Decode(
        1 + n % 2,
        f"#token: {5021 * (1 + n % 2)}, token usage: 0.01, ",
        True,
        41 * (1 + rng.uniform(-0.1, 0.1)),
        0,
        disaggregation=fields,
    )
    scene.log.line(decode_line(version, decode), Rank())


def _transfer_metrics(scene: Scene) -> str:
    labels = f'engine_type="prefill",model_name="{scene.server.model.path}",moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    rows = (
        ("kv_transfer_speed_gb_s", "The transfer speed of the KV cache in GB/s.", 0.34),
        ("kv_transfer_latency_ms", "The transfer latency of the KV cache in ms.", 1803.0),
        ("kv_transfer_bootstrap_ms", "The bootstrap time of the KV transfer in ms.", 3.9),
        ("kv_transfer_total_mb", "The total number of MB transferred.", 625.0),
        ("num_prefill_inflight_queue_reqs", "The number of requests in the prefill inflight queue.", 4.0),
    )
    lines = [f"# scraped_at: {scene.log.iso()}Z"]
    for name, text, value in rows:
        lines += [f"# HELP sglang:{name} {text}", f"# TYPE sglang:{name} gauge", f"sglang:{name}{{{labels}}} {value}"]
    return "\n".join(lines) + "\n"


_PD001_TRANSFER_OVER_TCP = Answer(
    "diagnosed",
    causes=("PD001",),
    must_not_support=("CG001", "CG003", "KV001", "KV002", "PR001", "IC001", "HW001", "LB001", "PP001"),
    fixes=(OPERATOR, fix(env={"UCX_TLS": "*"}), fix(disaggregation_transfer_backend="mooncake")),
    forbidden_changes=("--disable-cuda-graph", "--chunked-prefill-size"),
    evidence=("metrics/1.prom",),
    note="A transfer of 625 MB takes 1.8 s, 0.34 GB/s, with four requests under way between the nodes: UCX was built "
    "without RDMA and knows tcp only.",
    ref="ai-dynamo/dynamo#1314 (1,803 ms a write, no RDMA device in ucx_info), retold for SGLang; log rebuilt",
)


_PD001_TRANSFER_OVER_TCP_ROW: Row = {
    "tool": "own client",
    "max_concurrency": 6,
    "random_input_len": 5000,
    "random_output_len": 1,
    "mean_ttft_ms": 2290.0,
    "request_throughput": 2.43,
}


def pd001_transfer_over_tcp() -> Incident:
    prefill, decode = _split("prefill"), _split("decode")
    ucx = "".join(
        f"# Memory domain: {domain}\n#      Transport: {transport}\n#         Device: {device}\n"
        for domain, transport, device in (
            ("tcp", "tcp", "eth0"),
            ("cuda_cpy", "cuda_copy", "cuda"),
            ("cuda_ipc", "cuda_ipc", "cuda"),
        )
    )
    return Incident(
        "pd001-transfer-over-tcp",
        "Two seconds between a finished prefill and its first token",
        "Llama-8B split into a prefill and a decode node, 5k in and 1 out. Prefill itself takes 0.4 s but TTFT is "
        "2.3 s. Both nodes have 400G InfiniBand.",
        "reconstructed",
        stack(prefill.server, "2 nodes x 1x NVIDIA H100 80 GB", "Llama-3.1-8B"),
        ("disaggregation", "network"),
        _PD001_TRANSFER_OVER_TCP,
        hosts={
            "prefill": prefill.host(commands__jsonl=commands([(["ucx_info", "-d"], ucx)]))
            | {"metrics/1.prom": _transfer_metrics(prefill)},
            "decode": decode.host(),
        },
        files={"bench.jsonl": jsonl([_PD001_TRANSFER_OVER_TCP_ROW])},
        stated=("Both nodes have 400 Gbit/s InfiniBand.",),
    )


CASES = (pd001_transfer_over_tcp,)
