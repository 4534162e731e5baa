"""The event model's speed, held against what it is for: `pytest -m bench`."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_event_model.py"


@pytest.mark.bench
def test_a_thousand_what_ifs_of_ten_seconds_take_less_than_a_minute_of_one_core() -> None:
    # Counted in CPU time of the process, so that other work on the machine does not decide.
    done = subprocess.run([sys.executable, str(SCRIPT), "200"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "so 1,000 in" in done.stdout
