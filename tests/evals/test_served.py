"""What the peers are given: the recorded figures under the names that they read, and nothing added up over stages."""

from pathlib import Path
from urllib.request import urlopen

from ppagent_evals.served import as_dcgm, as_vllm, scrapes_of, served

SCRAPE = """# scraped_at: 2026-11-29T10:00:00Z
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="m",pp_rank="0"} 7.0
sglang:num_queue_reqs{model_name="m",pp_rank="1"} 7.0
sglang:e2e_request_latency_seconds_sum{model_name="m"} 4.0
sglang:prompt_tokens_total{model_name="m"} 900.0
"""


def test_names_are_vllms_and_only_the_first_stage_counts() -> None:
    assert as_vllm(SCRAPE).splitlines() == [
        'vllm:num_requests_waiting{model_name="m",pp_rank="0"} 7.0',
        'vllm:prefix_cache_queries_total{model_name="m"} 900.0',
    ]


def test_scrapes_come_in_order_and_the_last_gpu_sample_as_dcgm(tmp_path: Path) -> None:
    host = tmp_path / "hosts" / "box"
    (host / "metrics").mkdir(parents=True)
    for n in (10, 9):
        (host / "metrics" / f"{n}.prom").write_text(f"x {n}\n")
    (host / "gpus.csv").write_text("index,utilization.gpu,power.draw\n0,5,60\n0,97,260\n1,88,\n")
    assert scrapes_of(tmp_path) == ["x 9\n", "x 10\n"]
    assert as_dcgm(tmp_path).splitlines() == [
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 97',
        'DCGM_FI_DEV_POWER_USAGE{gpu="0"} 260',
        'DCGM_FI_DEV_GPU_UTIL{gpu="1"} 88',
    ]
    assert as_dcgm(tmp_path / "hosts") == "" and scrapes_of(tmp_path / "hosts") == []


def test_pages_come_in_turn_the_last_for_ever_and_as_metrics() -> None:
    with served({"/metrics": ["a 1\n", "a 2\n"]}) as address:
        replies = []
        for _ in range(3):
            with urlopen(f"{address}/metrics", timeout=20) as reply:
                replies.append((reply.read().decode(), reply.headers["Content-Type"]))
    assert [text for text, _ in replies] == ["a 1\n", "a 2\n", "a 2\n"]
    assert all(kind.startswith("text/plain") for _, kind in replies)
