"""No proposal of any recorded incident holds what its SGLang would refuse; other versions get their own spelling."""

import io
from functools import cache
from pathlib import Path

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.commands import Installed
from ppagent.changes.plan import make_plan
from ppagent.plugins import discover
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check
from ppagent.targets.open import open_target

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
RECORDED = sorted(path.parent for path in INCIDENTS.glob("*/answer.yaml"))
TOOLS = discover()


@cache
def diagnosed(recording: Path) -> Investigation:
    return investigate(open_target(str(recording), io.StringIO()), TOOLS, brain=brain_of("rules"), planner=make_plan)


@pytest.mark.parametrize("recording", RECORDED, ids=lambda path: path.name)
def test_every_relaunch_command_is_accepted_by_the_recorded_version(recording: Path) -> None:
    found = diagnosed(recording)
    installed = Installed.of(found.facts)
    whole = [p.command for p in found.plan.proposals if p.kind == "relaunch" and p.command]
    assert installed.catalogue is not None or not whole
    for command in whole:
        problems = check(
            parse_launch(command, installed.catalogue),
            installed.version,
            installed.catalogue,
            model_architectures=installed.architectures,
            num_layers=installed.layers,
            gpu=installed.gpu,
        )
        assert [problem.says for problem in problems if problem.kind == "refused"] == [], command


@pytest.mark.parametrize("recording", RECORDED, ids=lambda path: path.name)
def test_every_proposal_has_a_forecast_or_a_reason_why_there_is_none(recording: Path) -> None:
    for proposal in diagnosed(recording).plan.proposals:
        assert (proposal.predicted is None) == bool(proposal.unpredicted), proposal


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
