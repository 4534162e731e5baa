"""Prefill and decode apart: one pair that is well, one whose decode node lost its graphs."""

from dataclasses import replace

from ppagent_evals.writing.bench import Row, jsonl
from ppagent_evals.writing.cards import H200
from ppagent_evals.writing.gpus import spread
from ppagent_evals.writing.incident import Answer, Incident, fix, stack
from ppagent_evals.writing.lines import Decode, Prefill, decode_line, prefill_line
from ppagent_evals.writing.memory import Memory
from ppagent_evals.writing.models import QWEN3_32B
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

_OTHERS = ("KV001", "KV002", "KV005", "PP001", "IC001", "IC002", "HW001", "LB002")
_ROLE = {"--disaggregation-transfer-backend": "mooncake", "--disaggregation-ib-device": "mlx5_0"}
_PAIR = Server("0.5.18", QWEN3_32B, H200, flags=_ROLE)


def _node(seed: str, role: str, **flags: str) -> Scene:
    more = {"--" + name.replace("_", "-"): value for name, value in flags.items()}
    server = replace(_PAIR, flags={"--disaggregation-mode": role, **_ROLE, **more}, graphs_off=role == "prefill")
    scene = Scene(f"{seed}-{role}", server, "2026-08-19T14:20:10")
    scene.start(load_s=24)
    scene.log.at += 20
    return scene


def _prefills(scene: Scene, count: int) -> None:
    """One prompt after another, each handed over at once."""
    for n in range(count):
        scene.log.at += 0.21 * (1 + scene.log.rng.uniform(-0.05, 0.05))
        fields = f"#bootstrap-req: 0, #inflight-req: {n % 2}, "
        speed = 2410 / 0.21 * (1 + scene.log.rng.uniform(-0.05, 0.05))
        batch = Prefill(1, 2410, 0, f"token usage: {0.02 + 0.01 * (n % 2):.2f}, ", 0, 0, 0, False, speed, fields)
        scene.log.line(prefill_line(scene.server.version, batch), Rank())


def _decodes(scene: Scene, count: int, running: int, turn_s: float) -> None:
    """A decode line every 40 steps."""
    graph, pool = scene.server.decode_graphs, Memory.of(scene.server).tokens()
    for n in range(count):
        scene.log.at += 40 * turn_s
        now = running + n % 3 - 1
        fields = f"pre-allocated usage: 0.01, #prealloc-req: 0, #transfer-req: {n % 2}, #retracted-req: 0, "
        speed = now / turn_s * (1 + scene.log.rng.uniform(-0.02, 0.02))
        usage = f"#token: {2700 * now}, token usage: {2700 * now / pool:.2f}, "
        scene.log.line(decode_line(scene.server.version, Decode(now, usage, graph, speed, 0, None, fields)), Rank())


def _row(turn_ms: float, running: int) -> Row:
    return {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": 4.6,
        "random_input_len": 2410,
        "random_output_len": 220,
        "output_throughput": round(running / turn_ms * 1000 * 0.96, 1),
        "mean_ttft_ms": 297.0,
        "mean_itl_ms": turn_ms,
        "mean_tpot_ms": turn_ms,
    }


def _transfers(scene: Scene) -> str:
    labels = f'engine_type="prefill",model_name="{scene.server.model.path}",moe_ep_rank="0",pp_rank="0",tp_rank="0"'
    rows = (
        ("kv_transfer_speed_gb_s", "The transfer speed of the KV cache in GB/s.", 38.7),
        ("kv_transfer_latency_ms", "The transfer latency of the KV cache in ms.", 16.3),
        ("kv_transfer_total_mb", "The total number of MB transferred.", 631.0),
        ("num_prefill_inflight_queue_reqs", "The number of requests in the prefill inflight queue.", 1.0),
    )
    lines = [f"# scraped_at: {scene.log.iso()}Z"]
    for name, text, value in rows:
        lines += [f"# HELP sglang:{name} {text}", f"# TYPE sglang:{name} gauge", f"sglang:{name}{{{labels}}} {value}"]
    return "\n".join(lines) + "\n"


_SOUND_PAIR = Answer(
    "healthy",
    note="631 MB cross in 16 ms at 39 GB/s, prefills follow each other without a queue, and the decode node replays "
    "graphs at 24 requests and 22 ms. No graphs on a prefill node are normal.",
    ref="made up; line forms of sglang 0.5.18",
    also_accepted=("LB001", "PR001"),
    must_not_support=(*_OTHERS, "PD001", "CG001", "CG002", "CG003", "CP001", "PP005", "PP006"),
    ruled_out=("PD001",),
    forbidden_changes=("--disable-cuda-graph", "--disaggregation-transfer-backend", "--chunked-prefill-size"),
    evidence=("server.log",),
)


def sound_prefill_and_decode() -> Incident:
    prefill = _node("sound-prefill-and-decode", "prefill", enable_metrics="true")
    decode = _node("sound-prefill-and-decode", "decode", enable_metrics="true")
    _prefills(prefill, 90)
    _decodes(decode, 22, 24, 0.0221)
    return Incident(
        "sound-prefill-and-decode",
        "A prefill node that says `cuda graph: False`",
        "Qwen3-32B split into a prefill and a decode node, 4.6 requests/s. The prefill node prints `cuda graph: False` "
        "on every line and its arguments say that graphs are disabled. Do we lose speed there?",
        "synthetic",
        stack(_PAIR, "2 nodes x 1x NVIDIA H200", "Qwen3-32B"),
        ("control", "healthy", "disaggregation"),
        _SOUND_PAIR,
        hosts={
            "prefill": prefill.host(gpus__csv=prefill.gpus(spread(97, 603, 1)))
            | {"metrics/1.prom": _transfers(prefill)},
            "decode": decode.host(gpus__csv=decode.gpus(spread(98, 472, 1))),
        },
        files={"bench.jsonl": jsonl([_row(22.1, 24)])},
        stated=("Both nodes have 400 Gbit/s InfiniBand.",),
    )


_EAGER_DECODE = Answer(
    "diagnosed",
    causes=("CG001",),
    also_accepted=("CP001",),
    must_not_support=(*_OTHERS, "PD001", "CG002", "CG003", "CG005", "PR001"),
    ruled_out=("PD001", "KV001"),
    fixes=(fix(unset=("--disable-cuda-graph",)),),
    forbidden_changes=("--disaggregation-transfer-backend", "--chunked-prefill-size", "--attention-backend"),
    evidence=("server.log", "launch.txt"),
    note="The decode node was started with the prefill node's flags and decodes without graphs: 41 ms a token where "
    "its cards read the weights in 14. The prefill node needs none, and transfers take 16 ms.",
    ref="made up",
)


def cg001_on_the_decode_node() -> Incident:
    seed = "cg001-on-the-decode-node"
    prefill = _node(seed, "prefill", enable_metrics="true", disable_cuda_graph="true")
    decode = _node(seed, "decode", enable_metrics="true", disable_cuda_graph="true")
    _prefills(prefill, 90)
    _decodes(decode, 16, 44, 0.041)
    return Incident(
        seed,
        "Two nodes with the same launch script",
        "After the split into prefill and decode TTFT is 0.3 s, as wished, but tokens come at 24 a second. Before it "
        "was 40. Is it the network between the nodes?",
        "synthetic",
        stack(_PAIR, "2 nodes x 1x NVIDIA H200", "Qwen3-32B"),
        ("disaggregation", "cuda-graph"),
        _EAGER_DECODE,
        hosts={
            "prefill": prefill.host(gpus__csv=prefill.gpus(spread(96, 598, 1)))
            | {"metrics/1.prom": _transfers(prefill)},
            "decode": decode.host(gpus__csv=decode.gpus(spread(58, 301, 1))),
        },
        files={"bench.jsonl": jsonl([_row(41.0, 44)])},
        stated=("Both nodes have 400 Gbit/s InfiniBand.",),
    )


CASES = (sound_prefill_and_decode, cg001_on_the_decode_node)
