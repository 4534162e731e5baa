"""That a large trace is read in little memory, held against how the peak grows with the size: `pytest -m bench`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_trace_reading.py"
SIZES_MIB = (16, 120)
ONE_GB_MB = 1000.0
MOST_AT_ONE_GB_MIB = 500.0


def peak_at_one_gb_mib(*words: str) -> float:
    """The peak that two smaller traces foretell for 1 GB, in a straight line."""
    (small_mb, small_mib), (large_mb, large_mib) = (peak_of(size, words) for size in SIZES_MIB)
    assert large_mb > 3 * small_mb
    return large_mib + (large_mib - small_mib) / (large_mb - small_mb) * (ONE_GB_MB - large_mb)


def peak_of(size_mib: int, words: tuple[str, ...]) -> tuple[float, float]:
    """(size of the trace in MB, peak of the process that read it in MiB)."""
    command = [sys.executable, str(SCRIPT), "--json", "--size-mib", str(size_mib), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kernels"] > 500 * found["steps"] > 0
    return found["size_mb"], found["peak_mib"]


@pytest.mark.bench
@pytest.mark.parametrize("words", [(), ("--graph",)])
def test_a_trace_of_1_gb_takes_less_than_500_mib_by_how_memory_grows_with_the_size(words: tuple[str, ...]) -> None:
    assert peak_at_one_gb_mib(*words) < MOST_AT_ONE_GB_MIB


@pytest.mark.bench
def test_a_reader_that_holds_all_of_the_text_would_not_pass() -> None:
    assert peak_at_one_gb_mib("--at-once") > MOST_AT_ONE_GB_MIB
