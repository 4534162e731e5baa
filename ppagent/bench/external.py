"""Drives the server's own benchmark (`python -m sglang.bench_serving`) where SGLang is installed.

Its timers start inside the request, after any waiting in its own client; each request has a connection of its own,
made on that time. Its first token is the first with text. Its throughput is over the whole run, and one more request.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.serving_row import row_of
from ppagent.bench.serving_words import key_of, serving_words, time_limit_s
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
        words = [self.python, "-m", MODULE, *serving_words(endpoint.base_url, shape, requests)]
        words += ["--output-file", str(output)]
        return words + (["--tokenizer", self.tokenizer] if self.tokenizer else [])


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
    refuse_own_trust(endpoint)
    with tempfile.TemporaryDirectory(prefix="ppagent-bench-") as folder:
        output = Path(folder) / "row.jsonl"
        command = external.command(endpoint, shape, requests, output)
        environment = {**os.environ, **_keys(endpoint)}
        limit_s = time_limit_s(shape)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, timeout=limit_s, cwd=folder, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ToolError(f"bench_serving did not end within {limit_s:.0f} s") from error
        if done.returncode != 0 or not output.is_file():
            raise ToolError(f"bench_serving failed: {end_of(done.stdout)} | {end_of(done.stderr)}")
        return row_of(output.read_text(encoding="utf-8"), endpoint.route)


def refuse_own_trust(endpoint: Endpoint) -> None:
    """bench_serving goes by the address and the authorities of its own machine. Raises UserError where neither fits."""
    if endpoint.recognised_by is not None:
        raise UserError(
            "The server speaks TLS with a certificate that bench_serving cannot be told to trust at this address.",
            "Measure without --with bench_serving, or give the https address that the certificate is for.",
        )


def end_of(text: str) -> str:
    """The end of an output, on one line."""
    return " ".join(text[-300:].split())


def _keys(endpoint: Endpoint) -> dict[str, str]:
    """The key as bench_serving takes it: from the environment, so that no process list shows it."""
    key = key_of(endpoint)
    return {"OPENAI_API_KEY": key} if key else {}
