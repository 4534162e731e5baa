"""How fast a server's log is read, against `grep -c 'Decode batch'` over the same file in the same run.

    python scripts/bench_log_parse.py [--size-mib 1024] [--stages 8] [--remarks] [--keep PATH]

The log is made from lines as SGLang 0.5.23 prints them under pipeline parallelism: every stage prints its copy, with
prefills and HTTP access lines between. Prints MB/s of both, their ratio and the reader's peak resident memory.
"""

import argparse
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from ppagent.sglang.logs.stream import read_log_stream  # noqa: E402

_DECODE = (
    "[{at} PP{pp}] Decode batch, #running-req: {running}, #token: {tokens}, token usage: {usage:.2f}, "
    "cuda graph: {graph}, gen throughput (token/s): {rate:.2f}, #queue-req: {queue}\n"
)
_PREFILL = (
    "[{at} PP{pp}] Prefill batch, #new-seq: 2, #new-token: {tokens}, #cached-token: 63, token usage: {usage:.2f}, "
    "#running-req: {running}, #queue-req: {queue}, #pending-token: 0, cuda graph: False, "
    "input throughput (token/s): {rate:.2f}\n"
)
_HTTP = '[{at}] INFO:     127.0.0.1:4{running:04d} - "POST /generate HTTP/1.1" 200 OK\n'


def steps(stages: int) -> Iterator[str]:
    """Endless log text: one decode line of every stage a second, a prefill every sixth, an access line every second."""
    begin, step = datetime(2026, 1, 1), 0
    while True:
        values = {
            "at": begin + timedelta(seconds=step),
            "running": step % 61 + 1,
            "tokens": 900 + step * 37 % 70000,
            "usage": step % 97 / 100,
            "graph": step % 61 < 48,
            "rate": 20 + step * 7919 % 90000 / 100,
            "queue": step % 5,
        }
        kinds = (_PREFILL, _DECODE) if step % 6 == 0 else (_DECODE,)
        lines = [kind.format(pp=pp, **values) for kind in kinds for pp in range(stages)]
        yield "".join([*lines, _HTTP.format(**values)])
        step += 1


def remarks() -> Iterator[str]:
    """Endless log text without a batch line: what a chatty plug-in or a debug level prints."""
    begin = datetime(2026, 1, 1)
    for step in itertools.count():
        at = begin + timedelta(seconds=step // 50)
        yield f"[{at}] request {step * 7919 % 65536:04x} was looked up in table {step % 97} and passed on\n"


def write_log(path: Path, size: int, texts: Iterable[str]) -> int:
    """Write at least `size` bytes; returns how many."""
    written = 0
    with path.open("w", encoding="ascii") as out:
        for text in texts:
            written += out.write(text)
            if written >= size:
                break
    return written


def best_of(times: int, run: Callable[[], object]) -> float:
    """Seconds of the fastest run."""
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        took.append(time.perf_counter() - begin)
    return min(took)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size-mib", type=int, default=1024, help="size of the log (default: %(default)s)")
    parser.add_argument("--stages", type=int, default=8, help="pipeline stages that print (default: %(default)s)")
    parser.add_argument("--remarks", action="store_true", help="a log without a batch line instead")
    parser.add_argument("--keep", type=Path, help="write the log here and keep it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or Path(folder) / "server.log"
        size_mb = write_log(path, args.size_mib << 20, remarks() if args.remarks else steps(args.stages)) / 1e6
        grep_s = best_of(3, lambda: subprocess.run(["grep", "-c", "Decode batch", path], capture_output=True))

        def read() -> None:
            with path.open("rb") as stream:
                read_log_stream(stream)

        ours_s = best_of(3, read)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"log       {size_mb:8.0f} MB, {'no batch line' if args.remarks else f'{args.stages} stages'}")
    print(f"grep -c   {size_mb / grep_s:8.0f} MB/s")
    print(f"ppagent   {size_mb / ours_s:8.0f} MB/s")
    print(f"ratio     {ours_s / grep_s:8.1f} x grep's time")
    print(f"peak RSS  {peak_mib:8.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
