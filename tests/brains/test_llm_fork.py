"""A case that no rule knows: a fork whose scheduler has another parameter, in the recorded source only."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from ppagent.agent.contribution import OTHER, UNPROVEN
from ppagent.brains.llm.model import Message
from ppagent.report.document import document_of
from ppagent.report.json_report import as_json
from ppagent.report.text import as_text
from tests.brains.models import Call, FakeModel
from tests.brains.runs import SEED, by_model, by_rules, code_changes, states
from tests.sglang.source_samples import server_args

FORK = server_args("0.5.11", more='parser.add_argument("--pp-refill-stride", type=int, default=4)')
LOOP = '''
class SchedulerPPMixin:
    def event_loop_pp(self):
        """Only every pp_refill_stride-th step looks for new requests."""
        if self.step % self.server_args.pp_refill_stride == 0:
            self.refill_slots()
'''


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    root = tmp_path / "fork"
    shutil.copytree(SEED, root)
    srt = root / "hosts" / "gpu-box" / "source" / "sglang" / "srt"
    (srt / "server_args.py").write_text(FORK)
    (srt / "managers" / "refill.py").write_text(LOOP)
    (srt.parent / "version.py").write_text('__version__ = "0.5.11"\n')
    return root


def reader() -> FakeModel:
    """Greps, reads, asks for the flag, hypothesises with predictions, proposes, ends."""
    turn: list[int] = []

    def last_ids() -> list[str]:
        text = "\n".join(m.text for m in model.requests[-1] if m.role == "tool")
        return [part.split('"')[1] for part in text.split("<evidence id=")[1:] if part.startswith('"E')]

    def think(messages: Sequence[Message]) -> Sequence[Call]:
        turn.append(1)
        match len(turn):
            case 1:
                return [("look", {"tools": ["logs.decode", "bench.results"], "why": "the batches"})]
            case 2:
                return [("source_grep", {"pattern": "refill", "under": "sglang/srt", "limit": 20})]
            case 3:
                return [("source_read", {"path": "sglang/srt/managers/refill.py", "first_line": 1, "lines": 40})]
            case 4:
                return [("source_flag", {"flag": "--pp-refill-stride"})]
            case 5:
                predictions = [
                    {"fact": "decode.running_req.p95", "comparison": "<", "value": 8},
                    {"fact": "source.text", "comparison": "contains", "value": "refill_slots"},
                    {"fact": "decode.queue_req.max", "comparison": "==", "value": 0},
                ]
                says = "New requests reach the slots only every few steps, by the fork's refill stride"
                return [("hypothesise", {"says": says, "evidence": last_ids()[-1:], "predictions": predictions})]
            case 6:
                found = next(m.text for m in reversed(messages) if m.role == "tool")
                assert found.startswith("M1 taken down, open"), found
                said = "Look for new requests at each step, with --pp-refill-stride"
                change = [{"flag": "--pp-refill-stride", "value": "1"}]
                flag = [m.text for m in messages if "source.flag" in m.text][-1].split('id="')[1].split('"')[0]
                return [
                    (
                        "propose",
                        {"about": "M1", "says": said, "evidence": [flag], "set": change, "unset": [], "env": []},
                    )
                ]
            case _:
                return [("finish", {"says": "", "evidence": []})]

    model = FakeModel(think)
    return model


def test_the_models_own_hypothesis_and_change_are_reported_as_its_own_and_unproven(fork: Path) -> None:
    found = by_model(fork, reader())

    (own,) = found.contribution.hypotheses
    (proposal,) = found.contribution.proposals
    assert found.contribution.struck == 0
    assert own.state == "open" and own.confidence < 0.5
    assert [p.outcome for p in own.predictions] == ["holds", "holds", "holds"]
    assert proposal.change.set == {"--pp-refill-stride": "1"}
    assert proposal.command.endswith("--pp-refill-stride 1") and "+ --pp-refill-stride 1" in proposal.diff


def test_it_stands_in_every_report_under_that_label_and_counts_as_no_diagnosis(fork: Path) -> None:
    found = by_model(fork, reader())

    document = json.loads(as_json(found))
    text = " ".join(as_text(document_of(found)).split())
    (hypothesis,) = [h for h in document["hypotheses"] if h["cause"] == OTHER]
    (change,) = [p for p in document["proposals"] if p["causes"] == [OTHER]]
    assert hypothesis["state"] == "open" and hypothesis["name"].startswith(UNPROVEN)
    assert {reason["evidence"] for reason in hypothesis["because"]} <= {e["id"] for e in document["evidence"]}
    assert change["change"]["set"] == {"--pp-refill-stride": "1"}
    assert f"M1, {UNPROVEN}: New requests reach the slots" in text
    assert "ONLY TO TRY OUT, one restart" in text and f"{UNPROVEN}: Look for new requests" in text
    assert text.count("DO THIS") + text.count("TRY NOW") == 1, "the proven changes come first and by themselves"


def test_the_causes_that_the_code_computes_stay_as_they_are(fork: Path) -> None:
    rules, found = by_rules(fork), by_model(fork, reader())

    assert found.verdict == rules.verdict
    assert {c for c, s in states(found).items() if s == "supported"} == {"PP001", "CG001"}
    assert code_changes(found) == code_changes(rules)


def test_the_same_change_is_refused_where_the_source_does_not_declare_the_flag(fork: Path) -> None:
    args = fork / "hosts" / "gpu-box" / "source" / "sglang" / "srt" / "server_args.py"
    args.write_text(FORK.replace("pp_refill_stride", "pp_other").replace("pp-refill-stride", "pp-other"))

    found = by_model(fork, reader())

    assert found.contribution.proposals == () and found.contribution.struck == 1
    assert "--pp-refill-stride" not in as_text(document_of(found)).split("MODEL ADDS")[0]
