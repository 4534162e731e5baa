import json
from pathlib import Path

import pytest

from ppagent.chat.looking import investigate
from ppagent.chat.opening import Options, begin
from ppagent.cli.main import main
from tests.chat.chat_fakes import FakeScreen

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"


@pytest.mark.parametrize("name", ["kimi-k26-pp8", "ic001-no-p2p-gen3", "lab-clumped-pp8", "healthy-tp8-h200"])
def test_a_recordings_evidence_has_the_ids_of_its_report(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diagnose", str(INCIDENTS / name), "--brain", "rules", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    session = begin(str(INCIDENTS / name), Options(FakeScreen()))
    investigate(session)

    told = [(item["id"], item["tool"], item["facts"]) for item in report["evidence"]]
    assert [(e.id, e.tool, dict(e.facts)) for e in session.desk.ledger.evidence] == told
