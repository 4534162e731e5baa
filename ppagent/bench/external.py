"""Drives the server's own benchmark (`python -m sglang.bench_serving`) where SGLang is installed.

Its timers start inside the request, after any waiting in its own client, and its throughput is over the whole run.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError, UserError

INTERPRETER_VARIABLE = "PPAGENT_SGLANG_PYTHON"
MODULE = "sglang.bench_serving"


@dataclass(frozen=True)
class External:
    """An interpreter that has SGLang, and the tokenizer's place where the server's own name for it cannot be used."""

    python: str
    tokenizer: str = ""

    def command(self, endpoint: Endpoint, shape: Shape, requests: int, output: Path) -> list[str]:
        """The command line for one closed-loop level."""
        words = [self.python, "-m", MODULE, "--backend", "sglang", "--base-url", endpoint.base_url]
        words += ["--dataset-name", "random-ids", "--random-range-ratio", _ratio(shape)]
        words += ["--random-input-len", str(shape.input_tokens.high)]
        words += ["--random-output-len", str(shape.output_tokens.high)]
        words += ["--num-prompts", str(requests), "--seed", str(shape.seed)]
        words += ["--warmup-requests", str(shape.concurrency or 1), "--output-file", str(output), "--disable-tqdm"]
        words += ["--max-concurrency", str(shape.concurrency)] if shape.concurrency is not None else []
        words += ["--request-rate", f"{shape.rate:g}"] if shape.rate is not None else []
        words += ["--tokenizer", self.tokenizer] if self.tokenizer else []
        return words


def find_external(python: str, tokenizer: str, environ: Mapping[str, str]) -> External:
    """The interpreter to use: named, by PPAGENT_SGLANG_PYTHON, or the one that runs ppagent. Raises UserError."""
    named = python or environ.get(INTERPRETER_VARIABLE, "")
    tokenizer = str(Path(tokenizer).resolve()) if tokenizer and Path(tokenizer).exists() else tokenizer
    if named:
        if not Path(named).is_file():
            raise UserError(f"There is no interpreter {named}.", f"Give --python or {INTERPRETER_VARIABLE}.")
        return External(named, tokenizer)
    if find_spec("sglang") is None:
        raise UserError(
            "SGLang is not installed beside ppagent.",
            f"Name an interpreter that has it with --python or {INTERPRETER_VARIABLE}.",
        )
    return External(sys.executable, tokenizer)


def run_external(external: External, endpoint: Endpoint, shape: Shape, requests: int) -> dict[str, object]:
    """One level by bench_serving, as the row it wrote. Raises ToolError with the end of its output."""
    if shape.think_s:
        raise ToolError("bench_serving knows no think time: leave --think-time at 0 with it")
    with tempfile.TemporaryDirectory(prefix="ppagent-bench-") as folder:
        output = Path(folder) / "row.jsonl"
        command = external.command(endpoint, shape, requests, output)
        environment = {**os.environ, **_keys(endpoint)}
        limit_s = 120 + 20 * shape.seconds
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, timeout=limit_s, cwd=folder, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ToolError(f"bench_serving did not end within {limit_s:.0f} s") from error
        if done.returncode != 0 or not output.is_file():
            raise ToolError(f"bench_serving failed: {_end_of(done.stdout)} | {_end_of(done.stderr)}")
        return _row(output.read_text(encoding="utf-8"))


def _end_of(text: str) -> str:
    return " ".join(text[-300:].split())


def _row(text: str) -> dict[str, object]:
    row = json.loads(text.splitlines()[-1])
    if not isinstance(row, dict):
        raise ToolError("bench_serving wrote no object")
    row.pop("server_info", None)  # the server's arguments with its keys in clear
    return {**row, "tool": "bench_serving", "streamed": True}


def _keys(endpoint: Endpoint) -> dict[str, str]:
    """The key as bench_serving takes it: from the environment, so that no process list shows it."""
    header = endpoint.headers.get("Authorization", "")
    return {"OPENAI_API_KEY": header.removeprefix("Bearer ")} if header else {}


def _ratio(shape: Shape) -> str:
    """bench_serving draws lengths uniformly between ratio x length and length."""
    low, high = shape.output_tokens.low, shape.output_tokens.high
    return f"{low / high:.3g}"
