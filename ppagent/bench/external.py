"""Drives the server's own benchmark (`python -m sglang.bench_serving`) where SGLang is installed.

Its timers start inside the request, after any waiting in its own client; each request has a connection of its own,
made on that time. Its first token is the first with text. Its throughput is over the whole run, and one more request.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.serving_output import Output
from ppagent.bench.serving_row import row_of
from ppagent.bench.serving_words import key_of, serving_words, time_limit_s
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError, UserError

INTERPRETER_VARIABLE = "PPAGENT_SGLANG_PYTHON"
MODULE = "sglang.bench_serving"
HEARD_WITHIN_S = 2.0
"""Its last words are there by then, unless a process of its own holds the output open."""


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


def run_external(
    external: External, endpoint: Endpoint, shape: Shape, requests: int, said: Output | None = None
) -> dict[str, object]:
    """One level by bench_serving, as the row it wrote; `said` takes what it says as it comes. Raises ToolError with
    the end of that."""
    refuse_own_trust(endpoint)
    heard = said or Output()
    with tempfile.TemporaryDirectory(prefix="ppagent-bench-") as folder:
        output = Path(folder) / "row.jsonl"
        command = external.command(endpoint, shape, requests, output)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", **_keys(endpoint)}
        status = _ended(command, environment, folder, time_limit_s(shape), heard)
        if status != 0 or not output.is_file():
            raise ToolError(f"bench_serving failed: {heard.end}")
        return row_of(output.read_text(encoding="utf-8"), endpoint.route)


def _ended(command: Sequence[str], environment: Mapping[str, str], folder: str, limit_s: float, heard: Output) -> int:
    """Runs it to its end, its output heard meanwhile; the exit status. It does not outlive this call."""
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, cwd=folder
    )
    listener = threading.Thread(target=_listen, args=(child.stdout, heard), name="bench_serving", daemon=True)
    listener.start()
    try:
        return child.wait(limit_s)
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"bench_serving did not end within {limit_s:.0f} s") from error
    finally:
        child.kill()
        child.wait()
        listener.join(HEARD_WITHIN_S)


def _listen(output: IO[bytes], heard: Output) -> None:
    with output:
        while piece := os.read(output.fileno(), 1 << 16):
            heard.take(piece)


def refuse_own_trust(endpoint: Endpoint) -> None:
    """bench_serving goes by the address and the authorities of its own machine. Raises UserError where neither fits."""
    if endpoint.recognised_by is not None:
        raise UserError(
            "The server speaks TLS with a certificate that bench_serving cannot be told to trust at this address.",
            "Measure without --with bench_serving, or give the https address that the certificate is for.",
        )


def _keys(endpoint: Endpoint) -> dict[str, str]:
    """The key as bench_serving takes it: from the environment, so that no process list shows it."""
    key = key_of(endpoint)
    return {"OPENAI_API_KEY": key} if key else {}
