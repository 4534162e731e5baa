"""A recording's metrics over HTTP, as the peers want to read them (`evals/peers/run_peers.py`)."""

import csv
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

VLLM_NAMES = {
    "num_running_reqs": "num_requests_running",
    "num_queue_reqs": "num_requests_waiting",
    "token_usage": "kv_cache_usage_perc",
    "gen_throughput": "generation_tokens_per_second",
    "num_retracted_requests_total": "num_preemptions_total",
    "cached_tokens_total": "prefix_cache_hits_total",
    "prompt_tokens_total": "prefix_cache_queries_total",
}
"""SGLang's metrics under the names that vllm-doctor reads; it knows no others. One pipeline stage, as it adds up."""

DCGM_NAMES = {
    "utilization.gpu": "DCGM_FI_DEV_GPU_UTIL",
    "power.draw": "DCGM_FI_DEV_POWER_USAGE",
    "memory.used": "DCGM_FI_DEV_FB_USED",
}

_SAMPLE = re.compile(r"^sglang:(\w+)(\{[^}]*\})?\s+(\S+)$")


def scrapes_of(recording: Path) -> list[str]:
    """The scrapes of the first host that has any, in order."""
    for host in sorted((recording / "hosts").glob("*")):
        found = sorted((host / "metrics").glob("*.prom"), key=lambda path: int(path.stem))
        if found:
            return [path.read_text(encoding="utf-8") for path in found]
    return []


def as_vllm(scrape: str) -> str:
    """The scrape with vLLM's names, of the first stage alone."""
    lines = []
    for line in scrape.splitlines():
        sample = _SAMPLE.match(line)
        if sample is None or sample[1] not in VLLM_NAMES:
            continue
        labels = sample[2] or ""
        if 'pp_rank="' in labels and 'pp_rank="0"' not in labels:
            continue
        lines.append(f"vllm:{VLLM_NAMES[sample[1]]}{labels} {sample[3]}")
    return "\n".join(lines) + "\n"


def as_dcgm(recording: Path) -> str:
    """The last GPU sample of the first host that has any, as a DCGM exporter would give it."""
    path = next(iter(sorted((recording / "hosts").glob("*/gpus.csv"))), None)
    if path is None:
        return ""
    with path.open(encoding="utf-8", newline="") as text:
        last = {row["index"]: row for row in csv.DictReader(text)}
    return "".join(
        f'{name}{{gpu="{index}"}} {row[column]}\n'
        for index, row in last.items()
        for column, name in DCGM_NAMES.items()
        if row.get(column)
    )


@contextmanager
def served(pages: dict[str, list[str]]) -> Iterator[str]:
    """Serves each path's texts in turn, the last one for ever; gives the address."""
    seen: dict[str, int] = dict.fromkeys(pages, 0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            texts = pages.get(self.path.split("?")[0])
            if not texts:
                self.send_error(404)
                return
            path = self.path.split("?")[0]
            body = texts[min(seen[path], len(texts) - 1)].encode()
            seen[path] += 1
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
