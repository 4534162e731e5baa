"""Proposals are written for the flags that the installation itself declares, whatever its version number promises."""

import shutil
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.report.document import document_of
from ppagent.report.text import as_text
from ppagent.targets.open import open_target
from tests.sglang.source_samples import package

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8"
LIMIT = "--pp-max-micro-batch-size"


def diagnosed(root: Path, version: str = "0.5.11", **patches: object) -> Investigation:
    """The seed, on an SGLang whose own source was recorded with it."""
    shutil.copytree(SEED, root)
    source = root / "hosts" / "gpu-box" / "source"
    for path, text in package(version, **patches).items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)
    return investigate(open_target(str(root)), discover(), brain=brain_of("rules"), planner=make_plan)


def said(found: Investigation) -> str:
    return " ".join(as_text(document_of(found)).split())


def test_a_source_as_published_changes_nothing_of_the_proposals(tmp_path: Path, seed: Investigation) -> None:
    found = diagnosed(tmp_path / "r")
    assert [p.change for p in found.plan.proposals] == [p.change for p in seed.plan.proposals]
    assert [p.risks for p in found.plan.proposals] == [p.risks for p in seed.plan.proposals]


def test_a_lever_that_the_source_lacks_is_not_proposed_and_the_report_says_what_is_odd(tmp_path: Path) -> None:
    found = diagnosed(tmp_path / "r", without=[LIMIT])
    assert all(LIMIT not in p.change.set and LIMIT not in p.command for p in found.plan.proposals)
    (declined,) = [d for d in found.plan.declined if d.lever == LIMIT]
    assert declined.why == (
        f"SGLang 0.5.11 has no such flag: this installation's launch flags differ from 0.5.11's: {LIMIT} is not there"
    )
    told = next(item.id for item in found.evidence if "source.flags" in item.facts)
    assert told in declined.cites
    assert f"{LIMIT} is not there" in said(found)


def test_a_default_that_the_source_sets_otherwise_stands_with_the_proposals_that_touch_it(tmp_path: Path) -> None:
    found = diagnosed(tmp_path / "r", defaults={LIMIT: 4})
    touching = [p for p in found.plan.proposals if LIMIT in p.change.set]
    told = next(item.id for item in found.evidence if "source.flags" in item.facts)
    assert touching
    for proposal in touching:
        assert f"this installation's launch flags differ from 0.5.11's: {LIMIT}: default null -> 4" in proposal.risks
        assert told in proposal.cites
    others = [p for p in found.plan.proposals if LIMIT not in p.change.set]
    assert not [p for p in others if any("differ from" in risk for risk in p.risks)]


def test_a_source_with_an_older_name_of_the_lever_gets_that_name(tmp_path: Path) -> None:
    more = 'parser.add_argument("--max-micro-batch-size", type=int, default=None)'
    found = diagnosed(tmp_path / "r", without=[LIMIT], more=more)
    limits = {name for p in found.plan.proposals for name in p.change.set if "micro-batch" in name}
    assert limits == {"--max-micro-batch-size"}


def test_a_source_of_another_version_than_the_host_says_decides_and_that_is_said(tmp_path: Path) -> None:
    found = diagnosed(tmp_path / "r", version="0.5.20")
    fact = found.facts.table("source.flags")
    assert fact["version"] == "0.5.20"
    assert "The installed source says it is SGLang 0.5.20, the host says 0.5.11." in str(fact["says"])
    assert "The installed source says it is SGLang 0.5.20" in said(found)


@pytest.mark.parametrize("text", ["class ServerArgs:\n  def (", ""])
def test_a_source_that_cannot_be_read_leaves_the_published_flags(
    tmp_path: Path, text: str, seed: Investigation
) -> None:
    root = tmp_path / "r"
    shutil.copytree(SEED, root)
    (root / "hosts" / "gpu-box" / "source" / "sglang" / "srt" / "server_args.py").write_text(text)
    found = investigate(open_target(str(root)), discover(), brain=brain_of("rules"), planner=make_plan)
    assert [p.change for p in found.plan.proposals] == [p.change for p in seed.plan.proposals]
    assert found.facts.table("source.flags")["from"] == "table"


def test_a_build_between_releases_is_named_with_the_release_it_is_taken_for(tmp_path: Path) -> None:
    root = tmp_path / "r"
    for path in SEED.rglob("*"):
        if path.is_file() and "source" not in path.parts:
            (root / path.relative_to(SEED)).parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text().replace("0.5.11", "0.5.11.dev9+g1a2b3c4")
            (root / path.relative_to(SEED)).write_text(text)
    found = investigate(open_target(str(root)), discover(), brain=brain_of("rules"), planner=make_plan)
    assert found.facts.table("source.flags")["release"] == "0.5.10.post1"
    assert "SGLang 0.5.11.dev9+g1a2b3c4 (built from source; the nearest earlier release known is 0.5.10.post1)" in said(
        found
    )
