"""Lines as SGLang logs them, at a second of one morning, and a whole log of them read."""

from datetime import datetime, timedelta
from pathlib import Path

from ppagent.sglang.logs.stream import read_log
from ppagent.sglang.logs.summary import LogSummary

OLD = Path(__file__).parent / "fixtures_logs" / "pp2_0_4_10.log"
START = datetime(2026, 1, 1, 12, 0, 0)


def decode(
    second: float,
    running: int,
    rate: float = 100.0,
    *,
    tags: str = " PP0",
    graph: str = "True",
    queue: int = 0,
    tail: str = "",
    tokens: int | None = None,
) -> str:
    held = running * 100 if tokens is None else tokens
    return (
        f"[{START + timedelta(seconds=second)}{tags}] Decode batch, #running-req: {running}, #token: {held}, "
        f"token usage: 0.10, cuda graph: {graph}, gen throughput (token/s): {rate:.2f}, #queue-req: {queue}{tail}"
    )


def prefill(second: float, *, tags: str = " PP0", pending: int = 0, new: int = 100) -> str:
    return (
        f"[{START + timedelta(seconds=second)}{tags}] Prefill batch, #new-seq: 1, #new-token: {new}, "
        f"#cached-token: 28, token usage: 0.10, #running-req: 3, #queue-req: 0, #pending-token: {pending}, "
        f"cuda graph: False, input throughput (token/s): 50.00"
    )


def note(second: float, message: str, tags: str = "") -> str:
    return f"[{START + timedelta(seconds=second)}{tags}] {message}"


def read_log_text(text: bytes | str) -> LogSummary:
    """A log held in memory."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return read_log(data.removesuffix(b"\n").split(b"\n") if data else ())


def read(*lines: str) -> LogSummary:
    return read_log_text("\n".join(lines) + "\n")
