"""SGLang's profiler by version: bodies, names of files, marks."""

import pytest
from packaging.version import Version

from ppagent.sglang.profiling import (
    TraceName,
    names_stages,
    parse_step,
    parse_trace_name,
    profile_body,
    survives_second_start,
)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("1790857026.1234567-TP-0.trace.json.gz", TraceName(1790857026.1234567, 0)),
        ("1790857026.12-TP-1-DP-3-PP-2-EP-1.trace.json.gz", TraceName(1790857026.12, 1, 3, 2)),
        ("1790857026-TP-0-PP-7-DECODE.trace.json.gz", TraceName(1790857026, 0, None, 7, "DECODE")),
        ("mine-1790857026.5-TP-0-PP-1.trace.json.gz", TraceName(1790857026.5, 0, None, 1)),
        ("merged-1790857026.5.trace.json.gz", None),
        ("merged-1790857026.5-TP-0.trace.json.gz", None),
        ("rpd-1790857026.5-TP-0.trace.json.gz", None),
        ("cuda_graph_capture-target-TP-0.json.gz", None),
        ("1790857026.5-TP-0-memory.pickle", None),
        ("server.log", None),
        ("1790857026.5-TP-" + "9" * 4000 + ".trace.json.gz", None),
    ],
)
def test_a_file_name_tells_whose_trace_it_is(name: str, known: TraceName | None) -> None:
    assert parse_trace_name(name) == known


def test_a_mark_names_the_mode_and_the_batch_of_a_forward() -> None:
    step = parse_step("step[DECODE bs=8]")
    assert step is not None and (step.mode, step.batch, step.decodes) == ("DECODE", 8, True)
    prefill = parse_step("step[EXTEND bs=2 toks=900]")
    assert prefill is not None and not prefill.decodes
    detailed = parse_step("step[TARGET_VERIFY bs=3 g_sq=12 g_sqsq=48]")
    assert detailed is not None and (detailed.batch, detailed.decodes) == (3, True)
    assert parse_step("run_batch") is None and parse_step("step[IDLE]") is None


@pytest.mark.parametrize(
    ("version", "named", "safe"),
    [
        ("0.4.7", False, False), ("0.5.3", False, False), ("0.5.3.post1", False, False), ("0.5.3.post2", True, False),
        ("0.5.4", True, False), ("0.5.13.post1", True, False), ("0.5.14", True, True), ("0.5.23+cu130", True, True),
    ],
)  # fmt: skip
def test_versions_differ_in_the_names_of_traces_and_in_what_a_second_start_does(
    version: str, named: bool, safe: bool
) -> None:
    assert names_stages(Version(version)) is named
    assert survives_second_start(Version(version)) is safe


def test_an_unknown_version_is_not_guessed_at() -> None:
    assert names_stages(None) is None
    assert not survives_second_start(None)


def test_the_body_refuses_what_slows_the_host_down() -> None:
    assert profile_body("/tmp/x", 16) == {
        "output_dir": "/tmp/x", "num_steps": 16, "activities": ["CPU", "GPU"], "with_stack": False,
        "record_shapes": False,
    }  # fmt: skip
