"""No proposal of any recorded incident holds what its SGLang would refuse; other versions get their own spelling."""

import io
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
RECORDED = sorted(path.parent.parent.parent for path in INCIDENTS.glob("*/hosts/*/sglang_version.txt"))
TOOLS = discover()


def diagnosed(recording: Path) -> Investigation:
    return investigate(open_target(str(recording), io.StringIO()), TOOLS, brain=brain_of("rules"), planner=make_plan)


@pytest.mark.parametrize("recording", dict.fromkeys(RECORDED), ids=lambda path: path.name)
def test_every_relaunch_command_is_accepted_by_the_recorded_version(recording: Path) -> None:
    found = diagnosed(recording)
    version = found.facts.text("engine.version") or ""
    catalogue = catalogue_of(version)
    launch = found.facts.text("launch.command")
    before = (
        {p.says for p in check(parse_launch(launch, catalogue), version, catalogue) if p.kind == "refused"}
        if launch
        else set()
    )
    for proposal in found.plan.proposals:
        if proposal.kind != "relaunch" or not proposal.command:
            continue
        refused = [
            p.says for p in check(parse_launch(proposal.command, catalogue), version, catalogue) if p.kind == "refused"
        ]
        assert [says for says in refused if says not in before] == [], proposal.command


@pytest.mark.parametrize(
    ("version", "flag"),
    [
        ("0.5.3", "--max-micro-batch-size"),
        ("0.5.3.post1", "--pp-max-micro-batch-size"),
        ("0.5.4", "--pp-max-micro-batch-size"),
        ("0.5.14", "--pp-max-micro-batch-size"),
        ("0.5.20", "--pp-max-micro-batch-size"),
    ],
)
def test_another_version_of_the_seed_gets_its_own_spelling(version: str, flag: str, tmp_path: Path) -> None:
    place = tmp_path / "seed"
    for path in (INCIDENTS / "kimi-k26-pp8").rglob("*"):
        if path.is_file() and "source" not in path.parts and path.name not in ("server.log", "server_info.json"):
            copy = place / path.relative_to(INCIDENTS / "kimi-k26-pp8")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(path.read_text().replace("0.5.11", version))
    found = diagnosed(place)
    proposals = found.plan.proposals
    (depth,) = [d for d in found.plan.declined if d.lever == "--pp-async-batch-depth"]
    assert ("has no such flag" in depth.why) == ("--pp-async-batch-depth" not in catalogue_of(version).by_spelling)
    limits = {name for p in proposals for name in p.change.set if "micro-batch" in name}
    assert limits == {flag}
    key = flag.removeprefix("--").replace("-", "_")
    assert f'"{key}": ' in proposals[0].command
