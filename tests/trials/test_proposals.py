import json
from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.trials.proposals import proposal_in

ROW = {
    "id": "P2",
    "causes": ["CG001"],
    "kind": "relaunch",
    "change": {"set": {"--pp-max-micro-batch-size": "1"}, "unset": ["--disable-cuda-graph"], "env": {"A": "1"}},
    "predicted": {
        "metric": "output_throughput",
        "at": {"max_concurrency": 8},
        "baseline": 95.6,
        "low": 170,
        "high": 240,
    },
    "risks": ["capture may fail"],
}


def report(folder: Path, *rows: object) -> Path:
    path = folder / "report.json"
    path.write_text(json.dumps({"proposals": rows}))
    return path


def test_a_proposal_is_read_as_the_report_has_it(tmp_path: Path) -> None:
    found = proposal_in(report(tmp_path, ROW), "P2")
    assert found.change.set == {"--pp-max-micro-batch-size": "1"}
    assert found.change.unset == ("--disable-cuda-graph",)
    assert found.change.env == {"A": "1"}
    assert found.predicted is not None
    assert (found.predicted.low, found.predicted.at_concurrency) == (170, 8)
    assert found.risks == ("capture may fail",)


def test_an_unknown_proposal_is_named_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="It has P2"):
        proposal_in(report(tmp_path, ROW), "P9")


def test_a_report_without_proposals_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="proposes nothing"):
        proposal_in(report(tmp_path), "P1")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"proposals": [{}]}',
        '{"proposals": [{"id": "P1", "change": [1]}]}',
        '{"proposals": [{"id": "P1", "change": {"set": "x"}}]}',
        '{"proposals": [{"id": "P1", "predicted": {"low": 1}}]}',
        '{"proposals": [{"id": "P1", "predicted": {"metric": "x", "at": 8, "baseline": 1, "low": 2, "high": 1}}]}',
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UserError, match="no report"):
        proposal_in(path, "P1")
