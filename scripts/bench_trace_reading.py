"""How much memory and time it takes to read a large profiler trace.

    python scripts/bench_trace_reading.py [--size-mib 1024] [--graph] [--at-once] [--json] [--keep PATH]

The trace is one rank's, as PyTorch writes it for a card: forwards whose kernels are launched one by one (for each
kernel an operator, a launch and the kernel itself), or with --graph replayed from a graph (kernels alone). Reading runs
in a process of its own, so that the peak is the reader's. --at-once is what it is held against: all of the text in
memory. tests/profile/test_profile_memory.py holds the growth with the size to what 1 GB may take.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for place in (ROOT, ROOT / "evals"):
    sys.path.insert(0, str(place))

from ppagent_evals.writing.traces import Ring, trace  # noqa: E402

READ = """
import gzip, io, json, re, sys, time
from pathlib import Path
from ppagent.profile.reader import read_rank

def peak_mib():
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

began, before = (time.monotonic(), time.process_time()), peak_mib()
with Path(sys.argv[1]).open("rb") as file:
    source = io.BytesIO(gzip.compress(gzip.decompress(file.read()), 1)) if sys.argv[2] == "at once" else file
    found = read_rank(source, "trace")
print(json.dumps({"kernels": found.kernels, "steps": found.whole.steps,
                  "busy": found.whole.busy_ms / found.whole.window_ms,
                  "s": time.monotonic() - began[0], "cpu_s": time.process_time() - began[1],
                  "before_mib": before, "peak_mib": peak_mib()}))
"""


def pieces(size: int, *, graph: bool) -> Iterator[str]:
    """A trace of at least `size` characters: the same forwards again and again, later each time."""
    ring = Ring((5.0,), filled=1, steps=40, version="0.5.14", graph=graph, kernels=700)
    head, _, rest = trace(ring, 0).partition('"traceEvents": [\n')
    lines = rest.partition("\n],")[0].split(",\n")
    times = [json.loads(line)["ts"] for line in lines]
    length = max(times) - min(times) + 1000.0
    whole, tail = "\n".join(lines), rest.partition("\n]")[2]
    yield head + '"traceEvents": [\n'
    for again in range(max(1, -(-size // len(whole)))):
        shift = again * length
        moved = (
            line.replace(f'"ts": {at}', f'"ts": {round(at + shift, 3)}') for line, at in zip(lines, times, strict=True)
        )
        yield (",\n" if again else "") + ",\n".join(moved)
    yield "\n]" + tail


def write_trace(path: Path, size: int, *, graph: bool) -> int:
    """Writes and packs it; returns its size before it is packed."""
    written = 0
    with gzip.open(path, "wt", compresslevel=1) as file:
        for piece in pieces(size, graph=graph):
            written += file.write(piece)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size-mib", type=int, default=1024, help="size when unpacked (default: %(default)s)")
    parser.add_argument("--graph", action="store_true", help="forwards replayed from a graph")
    parser.add_argument("--at-once", action="store_true", help="read with all of the text in memory, to compare")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument("--keep", type=Path, help="write the trace here and keep it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.keep or Path(folder) / "large.trace.json.gz"
        began = time.monotonic()
        size_mb = write_trace(path, args.size_mib << 20, graph=args.graph) / 1e6
        wrote_s, packed_mb = time.monotonic() - began, path.stat().st_size / 1e6
        command = [sys.executable, "-c", READ, str(path), "at once" if args.at_once else "as it comes"]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout) | {"size_mb": size_mb, "packed_mb": packed_mb, "wrote_s": wrote_s}
    print(json.dumps(found) if args.json else story(found))
    return 0


def story(found: dict[str, float]) -> str:
    """The figures for a person."""
    return "\n".join(
        (
            f"trace       {found['size_mb']:8.0f} MB, {found['packed_mb']:.0f} MB packed",
            f"written in  {found['wrote_s']:8.1f} s",
            f"read in     {found['s']:8.1f} s, {found['cpu_s']:.1f} s of one core, "
            f"{found['size_mb'] / found['cpu_s']:.0f} MB/s",
            f"kernels     {found['kernels']:8.0f} in {found['steps']:.0f} forwards, busy {found['busy']:.0%}",
            f"peak RSS    {found['peak_mib']:8.0f} MiB ({found['before_mib']:.0f} MiB before)",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
