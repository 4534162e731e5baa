"""Sent to the server's own Python with -I -B -c: runs the bench_serving that is installed for it beside the server.

Standard input holds what to run as one line of JSON, keys among it so that no process list shows them, and is the leash
afterwards: it brings a byte every second, and when it ends or falls silent, so does the benchmark. That line:
`words` (arguments), `env` (variables of the server), `paths` (its module path), `cwd`, `tokenizer`, `key`, `mark`.

The row comes back on standard output after `mark`, through a pipe and not a file; what the benchmark says goes to
standard error. Its caches and working folder are a temporary folder, which is removed in the end. It must run on Python
3.8 and import nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
SILENCE_S = 20.0
GRACE_S = 0.5
LEFT_OUT = ("OPENAI_API_KEY", "API_KEY", "SGLANG_IS_IN_CI", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
            "FLASHINFER_WORKSPACE_BASE", "CUDA_CACHE_PATH", "SGLANG_CACHE_DIR")  # fmt: skip
"""Keys of others, what makes it flush the server's cache, and caches that it would write to."""


def variables(asked: dict[str, Any], folder: str) -> dict[str, str]:
    """Those of the server, but: no network, no proxy, and every cache in `folder` except the hub's, which is read."""
    env = {**os.environ, **asked["env"]}
    env = {name: value for name, value in env.items() if name not in LEFT_OUT and not name.lower().endswith("_proxy")}
    own_cache = Path(env.get("HOME", ""), ".cache")
    env.setdefault("HF_HOME", str(Path(env.get("XDG_CACHE_HOME") or own_cache, "huggingface")))
    env.setdefault("MODELSCOPE_CACHE", str(own_cache / "modelscope" / "hub"))
    env.setdefault("PYTHONUSERBASE", site.getuserbase())
    env.update(
        HOME=folder, XDG_CACHE_HOME=f"{folder}/cache", TMPDIR=folder, NO_PROXY="*",
        HF_MODULES_CACHE=f"{folder}/modules", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1",
        HF_DATASETS_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1",
        PYTHONPATH=os.pathsep.join(str(Path(asked["cwd"], path)) for path in asked["paths"]),
    )  # fmt: skip
    if asked["key"]:
        env["OPENAI_API_KEY"] = asked["key"]
    return env


def command(asked: dict[str, Any], output: int) -> list[str]:
    words = [sys.executable, "-B", "-m", "sglang.bench_serving", *asked["words"], "--output-file", f"/dev/fd/{output}"]
    tokenizer = asked["tokenizer"]
    here = Path(asked["cwd"], tokenizer)
    if tokenizer:
        words += ["--tokenizer", str(here) if here.exists() else tokenizer]
    return words


def hold() -> None:
    """Ends this process once standard input ends or brings nothing."""
    while select.select([0], [], [], SILENCE_S)[0] and os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def end(number: int, frame: object) -> None:
    """Signals come more than once: from the leash, from `timeout`, from `hold`. Only the first interrupts."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def drain(source: int, kept: list[bytes]) -> None:
    with os.fdopen(source, "rb") as file:
        kept.append(file.read())


def first_line() -> bytes:
    """Read byte by byte: what follows is not to be taken into a buffer."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            raise SystemExit("nothing was asked for")
        line += piece
    return line


def run(asked: dict[str, Any], folder: str) -> int:
    source, sink = os.pipe()
    kept: list[bytes] = []
    child = subprocess.Popen(
        command(asked, sink), env=variables(asked, folder), cwd=folder, pass_fds=(sink,),
        stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr,
    )  # fmt: skip
    os.close(sink)
    reader = threading.Thread(target=drain, args=(source, kept), daemon=True)
    reader.start()
    try:
        status = child.wait()
        reader.join(GRACE_S)
    finally:
        child.kill()  # at once: whoever ends this process leaves it a second
        child.wait()
    sys.stdout.write(asked["mark"] + b"".join(kept).decode("utf-8", errors="replace"))
    return status


def main() -> None:
    for number in ENDING:
        signal.signal(number, end)
    asked = json.loads(first_line())
    folder = tempfile.mkdtemp(prefix="ppagent-bench-")
    try:
        threading.Thread(target=hold, daemon=True).start()
        status = run(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
