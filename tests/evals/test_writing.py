"""The written incidents: they regenerate to what is committed, and their answers are answers."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from ppagent.sglang.flags.history import catalogue_of
from ppagent_evals.answer import Answer, read_answer
from ppagent_evals.cases import all_incidents
from ppagent_evals.writing.arguments import arguments_line
from ppagent_evals.writing.cards import H200
from ppagent_evals.writing.fields import defaults
from ppagent_evals.writing.incident import Incident, as_text
from ppagent_evals.writing.lines import Decode, Prefill, decode_line, prefill_line
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.memory import split
from ppagent_evals.writing.models import DEEPSEEK_R1
from ppagent_evals.writing.scene import Scene
from ppagent_evals.writing.server import Rank, Server

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"

CAUSES = {
    *(f"PP{n:03}" for n in range(1, 10)), *(f"CG{n:03}" for n in range(1, 6)), *(f"KV{n:03}" for n in range(1, 6)),
    *(f"LB{n:03}" for n in range(1, 4)), *(f"IC{n:03}" for n in range(1, 7)), *(f"HW{n:03}" for n in range(1, 5)),
    *(f"CP{n:03}" for n in range(1, 5)), *(f"SP{n:03}" for n in range(1, 4)), *(f"KR{n:03}" for n in range(1, 4)),
    "PR001", *(f"LA{n:03}" for n in range(1, 5)), "PD001", "ME001",
}  # fmt: skip
HEALTHY_CAUSES = {"LB001", "PP002", "PR001", "ME001"}
NOT_OF_SGLANG = {"NCCL_", "CUDA_", "UCX_", "MC_", "OMP_"}


@cache
def incidents() -> dict[str, Incident]:
    return {incident.id: incident for incident in all_incidents()}


def ids() -> list[str]:
    return list(incidents())


def recording(incident: Incident) -> Path:
    return INCIDENTS / (f"{incident.id}.log" if incident.single else incident.id)


def answer(incident: Incident) -> Answer:
    return read_answer(recording(incident))


@pytest.mark.parametrize("name", ids())
def test_what_is_committed_is_what_the_case_writes_byte_for_byte(name: str) -> None:
    for path, text in incidents()[name].paths().items():
        assert as_text(path, (INCIDENTS / path).read_bytes()) == text, path


@pytest.mark.parametrize("name", ids())
def test_no_file_of_a_written_incident_is_left_over(name: str) -> None:
    incident = incidents()[name]
    if incident.single:
        return
    found = {str(p.relative_to(INCIDENTS)) for p in (INCIDENTS / name).rglob("*") if p.is_file()}
    assert found == set(incident.paths())


@pytest.mark.parametrize("name", ids())
def test_an_answer_names_causes_of_the_closed_list_and_contradicts_itself_nowhere(name: str) -> None:
    known = answer(incidents()[name])
    named = {*known.causes, *known.also_accepted, *known.must_not_support, *known.ruled_out}
    assert named <= CAUSES, named - CAUSES
    accepted = {*known.causes, *known.also_accepted}
    assert not accepted & {*known.must_not_support, *known.ruled_out}
    match known.verdict:
        case "diagnosed":
            assert known.causes
        case "healthy":
            assert set(known.causes) <= HEALTHY_CAUSES
        case "not_enough_evidence":
            assert not known.causes and not known.fixes
    assert known.note and known.ref


@pytest.mark.parametrize("name", ids())
def test_a_cited_artifact_is_in_the_recording(name: str) -> None:
    incident = incidents()[name]
    paths = {path.removeprefix(f"{name}/") for path in incident.paths()}
    artifacts = paths | {re.sub(r"^hosts/[^/]+/", "", path) for path in paths}
    for artifact in answer(incident).evidence:
        assert (artifact == "server.log") if incident.single else (artifact in artifacts)


@pytest.mark.parametrize("name", ids())
def test_flags_of_fixes_exist_in_the_version_and_have_values_it_accepts(name: str) -> None:
    incident = incidents()[name]
    flags = {spelling: flag for flag in catalogue_of(incident.stack["version"]) for spelling in flag.spellings}
    for fix in answer(incident).fixes:
        for flag, value in fix.set.items():
            assert flag in flags
            if flags[flag].choices and value != "*":
                assert value in flags[flag].choices
        for name_ in fix.env:
            assert name_.startswith(("SGLANG_", "SGL_", *NOT_OF_SGLANG))


@pytest.mark.parametrize("name", ids())
def test_the_launch_command_uses_flags_of_its_version_unless_that_is_the_fault(name: str) -> None:
    incident = incidents()[name]
    if "LA004" in answer(incident).causes:
        return
    flags = {spelling for flag in catalogue_of(incident.stack["version"]) for spelling in flag.spellings}
    for artifacts in incident.hosts.values():
        words = artifacts.get("launch.txt", "").split()
        assert {word for word in words if re.fullmatch(r"--[a-z0-9-]+", word)} <= flags


@pytest.mark.parametrize("name", ids())
def test_the_incident_says_what_it_is_and_gives_nothing_away(name: str) -> None:
    incident = incidents()[name]
    if incident.single:
        return
    document = yaml.safe_load((INCIDENTS / name / "incident.yaml").read_text())
    assert document["schema_version"] == 1 and document["id"] == name
    assert set(document["origin"]) == {"kind"} and document["origin"]["kind"] in ("reconstructed", "synthetic")
    assert set(document["stack"]) == {"engine", "version", "gpus", "model"}
    assert not CAUSES & set(re.findall(r"[A-Z]{2}\d{3}", str(document)))


@pytest.mark.parametrize("name", ids())
def test_a_log_is_in_order_of_time(name: str) -> None:
    incident = incidents()[name]
    logs = [incident.single, *(a.get("server.log", "") for a in incident.hosts.values())]
    for log in logs:
        stamps = re.findall(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", log, re.MULTILINE)
        assert stamps == sorted(stamps)


@pytest.mark.parametrize("version", ["0.4.9", "0.5.3", "0.5.5", "0.5.10", "0.5.14", "0.5.20", "0.5.23"])
def test_arguments_hold_the_lever_of_the_micro_batch_in_the_versions_own_name(version: str) -> None:
    names = {name for name in defaults(version) if "micro_batch" in name}
    assert names == ({"max_micro_batch_size"} if version in ("0.4.9", "0.5.3") else {"pp_max_micro_batch_size"})


USAGE = "#token: 552, token usage: 0.01, "


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("0.4.9", "Decode batch. #running-req: 3, #token: 552, token usage: 0.01, cuda graph: True, "
                  "gen throughput (token/s): 24.63, #queue-req: 0"),
        ("0.5.3", "Decode batch. #running-req: 3, #token: 552, token usage: 0.01, cuda graph: True, "
                  "gen throughput (token/s): 24.63, #queue-req: 0, "),
        ("0.5.8", "Decode batch, #running-req: 3, #token: 552, token usage: 0.01, cuda graph: True, "
                  "gen throughput (token/s): 24.63, #queue-req: 0, "),
        ("0.5.9", "Decode batch, #running-req: 3, #token: 552, token usage: 0.01, cuda graph: True, "
                  "gen throughput (token/s): 24.63, #queue-req: 0"),
        ("0.5.12", "Decode batch, #running-req: 3, #token: 552, token usage: 0.01, cuda graph: True, "
                   "gen throughput (token/s): 24.63, #queue-req: 0, fwd occupancy: 12.50%"),
    ],
)  # fmt: skip
def test_a_decode_line_has_the_form_of_its_version(version: str, line: str) -> None:
    assert decode_line(version, Decode(3, USAGE, True, 24.63, 0, occupancy=12.5)) == line


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("0.4.9", "Prefill batch. #new-seq: 1, #new-token: 512, #cached-token: 64, token usage: 0.00, "
                  "#running-req: 2, #queue-req: 5"),
        ("0.5.5", "Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 64, token usage: 0.00, "
                  "#running-req: 2, #queue-req: 5, "),
        ("0.5.9", "Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 64, token usage: 0.00, "
                  "#running-req: 2, #queue-req: 5, input throughput (token/s): 16.00, cuda graph: False"),
        ("0.5.10", "Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 64, token usage: 0.00, "
                   "#running-req: 2, #queue-req: 5, cuda graph: False, input throughput (token/s): 16.00"),
        ("0.5.20", "Prefill batch, #new-seq: 1, #new-token: 512, #cached-token: 64, token usage: 0.00, "
                   "#running-req: 2, #queue-req: 5, #pending-token: 900, cuda graph: False, "
                   "input throughput (token/s): 16.00"),
    ],
)  # fmt: skip
def test_a_prefill_line_has_the_form_of_its_version(version: str, line: str) -> None:
    batch = Prefill(1, 512, 64, "token usage: 0.00, ", 2, 5, pending_token=900, input_tokens_per_s=16)
    assert prefill_line(version, batch) == line


@pytest.mark.parametrize(
    ("version", "tags"), [("0.4.9", " TP1 PP2"), ("0.5.5", " TP1 EP0 PP2"), ("0.5.6", " PP2 TP1 EP0")]
)
def test_rank_tags_stand_in_the_order_of_the_version(version: str, tags: str) -> None:
    server = Server(version, DEEPSEEK_R1, H200, tp=2, pp=4, ep=2)
    assert server.tags(Rank(pp=2, tp=1, ep=0)) == tags


def test_arguments_are_a_call_up_to_0_5_18_and_a_dictionary_from_0_5_19() -> None:
    lines = {v: arguments_line(Server(v, DEEPSEEK_R1, H200, pp=8)) for v in ("0.5.18", "0.5.19")}
    assert lines["0.5.18"].startswith("server_args=ServerArgs(model_path='/models/DeepSeek-R1-0528', ")
    assert "cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=256" in lines["0.5.18"]
    assert lines["0.5.19"].startswith("server_args={'model_path': '/models/DeepSeek-R1-0528', ")
    assert "'cuda_graph_config': {'decode': {'backend': 'full', 'max_bs': 256" in lines["0.5.19"]


def test_the_remainder_of_the_layers_moved_in_0_5_6() -> None:
    assert split("0.5.5", 61, 8) == [7, 7, 7, 7, 7, 7, 7, 12]
    assert split("0.5.6", 61, 8) == [7, 7, 7, 8, 8, 8, 8, 8]


def test_tokens_a_second_agree_with_running_requests_and_turn() -> None:
    server = Server("0.5.12", DEEPSEEK_R1, H200, tp=8)
    scene = Scene("seed", server, "2026-01-01T00:00:00")
    scene.start()
    done = scene.serve(Load((32,), 40, 100, 200, prefill_ms_per_k=0), 60)
    assert done.generated / done.at == pytest.approx(32 / 0.040, rel=0.02)
    shown = [float(x) for x in re.findall(r"gen throughput \(token/s\): ([\d.]+)", scene.log.text())][1:]
    assert min(shown) > 0.97 * 32 / 0.040 and max(shown) < 1.03 * 32 / 0.040
