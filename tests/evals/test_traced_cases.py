"""Cases with packed traces: quotes are found in them, secrets too, and a spoiled one ends nothing."""

import gzip
import shutil
from pathlib import Path

import pytest

from ppagent_evals.check_case import faults_of
from ppagent_evals.scorer import _found
from ppagent_evals.writing.incident import as_bytes, as_text

CASE = Path(__file__).parents[2] / "evals" / "incidents" / "pp004-slow-in-the-trace"
TRACE = "traces/1784290000.5-TP-0-PP-0.trace.json.gz"


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASE, tmp_path / CASE.name))


def cited(excerpt: str) -> dict[str, str]:
    return {"host": "node", "artifact": TRACE, "excerpt": excerpt}


def test_a_quote_is_looked_for_in_the_trace_as_it_was_before_it_was_packed(case: Path) -> None:
    assert _found(cited("step[DECODE bs=8]"), case, {})
    assert not _found(cited("step[DECODE bs=9]"), case, {})


@pytest.mark.parametrize(
    "data", [b"", b"no gzip", gzip.compress(b"x" * 9000, mtime=0)[:20]], ids=["empty", "plain", "cut"]
)
def test_nothing_is_found_in_a_spoiled_trace_and_that_is_all(case: Path, data: bytes) -> None:
    (case / "hosts" / "node" / TRACE).write_bytes(data)
    assert not _found(cited("step[DECODE bs=8]"), case, {})
    assert faults_of(case) == ()


def test_a_secret_in_a_trace_is_noticed(case: Path) -> None:
    path = case / "hosts" / "node" / TRACE
    text = gzip.decompress(path.read_bytes()).decode()
    path.write_bytes(gzip.compress(text.replace('"nccl"', '"hf_abcdefghijklmnopqrstuvwx0123"', 1).encode()))
    assert any(TRACE in fault and "secret" in fault for fault in faults_of(case))


def test_packing_is_the_same_at_any_time_and_can_be_undone() -> None:
    assert as_bytes(TRACE, "text") == as_bytes(TRACE, "text")
    assert as_text(TRACE, as_bytes(TRACE, "tëxt")) == "tëxt"
    assert as_bytes("server.log", "text") == b"text"
