"""SGLang's own triage bundle is read as a recording of what its server says over HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from ppagent.agent.investigation import Investigation, investigate
from ppagent.brains.rules import RulesBrain
from ppagent.changes.plan import make_plan
from ppagent.errors import NotRecorded, ToolError
from ppagent.plugins import discover
from ppagent.record.folder import prepare
from ppagent.record.incident import Words
from ppagent.record.recorder import Recorder
from ppagent.targets.open import open_target
from ppagent.targets.recording import Recording
from ppagent.targets.target import Artifact, Shared, Target
from ppagent.targets.triage_bundle import TriageBundle

LAB = Path(__file__).parents[2] / "evals/incidents/lab-pp8-a"
HOST = next((LAB / "hosts").iterdir())
METADATA = {"artifact_type": "incident_bundle", "base_url": "http://127.0.0.1:30000", "collected_at": "20261129_203000",
            "token_provided": False, "timeout_seconds": 10.0}  # fmt: skip


def wrapped(path: str, body: Any) -> str:
    return json.dumps({"ok": True, "status": 200, "path": path, "json": body}, indent=2) + "\n"


def failed(path: str, status: int, said: str) -> str:
    return json.dumps({"ok": False, "status": status, "path": path, "error": said}, indent=2) + "\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """What the collector would have written of a server that was recorded."""
    root = tmp_path / "incident_bundle_20261129_203000"
    root.mkdir()
    info, loads = (json.loads((HOST / name).read_text()) for name in ("server_info.json", "loads.json"))
    scrape = next((HOST / "metrics").iterdir()).read_text().partition("\n")[2]
    files = {
        "metadata.json": json.dumps(METADATA),
        "health.txt": "",
        "health_generate.txt": "",
        "metrics.txt": scrape,
        "model_info.json": wrapped("/model_info", {"model_path": "m"}),
        "server_info.json": wrapped("/server_info", info),
        "loads_all.json": wrapped("/v1/loads?include=all", loads),
        "loads_core_queues_disagg.json": wrapped("/v1/loads?include=core,queues,disagg,spec", loads),
        "hicache_storage_backend.json": failed("/hicache/storage-backend", 403, "Forbidden"),
        "SUMMARY.txt": "health.txt: ok\n",
    }
    for name, text in files.items():
        (root / name).write_text(text)
    return root


def diagnosed(target: Target) -> Investigation:
    return investigate(target, discover(), brain=RulesBrain(), planner=make_plan)


def told(found: Investigation) -> tuple[object, ...]:
    return found.verdict, tuple((h.cause_id, h.state) for h in found.board.hypotheses)


def test_it_is_diagnosed_as_a_recording_of_the_same_answers_is(bundle: Path, tmp_path: Path) -> None:
    host = tmp_path / "same" / "hosts" / "server"
    (host / "metrics").mkdir(parents=True)
    for name in ("server_info.json", "loads.json"):
        (host / name).write_text((HOST / name).read_text())
    version = json.loads((HOST / "server_info.json").read_text())["version"]
    (host / "sglang_version.txt").write_text(f"{version}\n")
    scrape = next((HOST / "metrics").iterdir()).read_text().partition("\n")[2]
    (host / "metrics" / "1.prom").write_text(f"# scraped_at: 2026-11-29T20:30:00\n{scrape}")
    target = open_target(str(bundle))
    assert isinstance(target, TriageBundle)
    assert (target.kind, target.name, target.hosts) == ("recording", bundle.name, ("server",))
    found = diagnosed(target)
    assert found.facts.get("args.pp_size").value == 8
    assert found.facts.get("engine.version").value == version
    assert told(found) == told(diagnosed(open_target(str(tmp_path / "same"))))


def test_a_log_laid_beside_it_is_read(bundle: Path) -> None:
    with pytest.raises(NotRecorded):
        list(open_target(str(bundle)).log("server"))
    (bundle / "server.log").write_bytes((HOST / "server.log").read_bytes())
    assert diagnosed(open_target(str(bundle))).facts.get("decode.lines")


def test_it_can_be_made_a_recording_of(bundle: Path, tmp_path: Path) -> None:
    target = open_target(str(bundle))
    Recorder(target, prepare(tmp_path / "r", force=False), Words(), window_s=1, watch=lambda _: None).record()
    copy = Recording(tmp_path / "r")
    assert json.loads(copy.text("server", Artifact.SERVER_INFO))["pp_size"] == 8
    assert copy.scrapes("server")[0][1].startswith("# scraped_at: 2026-11-29T20:30:00\n")
    assert told(diagnosed(copy)) == told(diagnosed(target))


def test_what_the_server_refused_is_not_recorded_and_says_why(bundle: Path) -> None:
    (bundle / "server_info.json").write_text(failed("/server_info", 401, '{"error":"Unauthorized"}'))
    (bundle / "metrics.txt").unlink()
    (bundle / "metrics.txt.error.json").write_text(failed("/metrics", 404, "Not Found"))
    (bundle / "loads_all.json").write_text(failed("/v1/loads?include=all", 500, "boom"))
    target = open_target(str(bundle))
    for artifact in (Artifact.SERVER_INFO, Artifact.VERSION):
        with pytest.raises(
            NotRecorded, match="/server_info answered 401 when the bundle was collected: .*Unauthorized"
        ):
            target.text("server", artifact)
    with pytest.raises(NotRecorded, match="/metrics answered 404 when the bundle was collected: Not Found"):
        target.scrapes("server")
    assert "loads" in json.loads(target.text("server", Artifact.LOADS))


def test_odd_files_are_said_and_a_folder_that_is_none_is_no_bundle(bundle: Path) -> None:
    (bundle / "server_info.json").write_text("{")
    (bundle / "loads_all.json").write_text("[1]")
    (bundle / "loads_core_queues_disagg.json").unlink()
    target = open_target(str(bundle))
    with pytest.raises(ToolError, match=r"server_info.json is no JSON"):
        target.text("server", Artifact.SERVER_INFO)
    with pytest.raises(NotRecorded, match="loads_all.json holds no answer"):
        target.text("server", Artifact.LOADS)
    for artifact in (Artifact.LAUNCH, Artifact.GPUS):
        with pytest.raises(NotRecorded, match="a triage bundle holds only what a server says over HTTP"):
            target.text("server", artifact)
    for shared in Shared:
        with pytest.raises(NotRecorded):
            target.shared(shared)
    with pytest.raises(NotRecorded):
        target.source("server")
    for text in ("{}", "[]", "no JSON", json.dumps({"artifact_type": "other"})):
        (bundle / "metadata.json").write_text(text)
        assert not isinstance(_opened(bundle), TriageBundle)


def _opened(folder: Path) -> Target | None:
    from ppagent.errors import UserError

    try:
        return open_target(str(folder))
    except UserError:
        return None


def test_no_version_is_made_up(bundle: Path) -> None:
    (bundle / "server_info.json").write_text(wrapped("/server_info", {"pp_size": 8}))
    with pytest.raises(NotRecorded, match="does not say its version"):
        open_target(str(bundle)).text("server", Artifact.VERSION)
