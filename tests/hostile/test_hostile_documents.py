"""YAML and JSON that mean to grow, to hide or to be no text: each is passed over, and the rest still counts."""

import json
from pathlib import Path

import pytest

from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from tests.hostile.hostile_cases import copied, diagnosed, facts, host_of

LAUGHS = 'a0: &a0 ["lol", "lol"]\n' + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 15))
HEALTHY = "healthy-pp4-loaded"


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS + "question: *a14\nstated: *a14\n",
        LAUGHS + "question: slow?\nstated: [*a14]\nstack: {version: *a14}\norigin: {kind: *a14}\n",
        "question: &q [*q]\n",
        f"question: 0x{'f' * 5000}\nstated: [0x{'f' * 5000}]\n0x{'f' * 5000}: 1\n",
        f"question: {'[' * 90_000}{']' * 90_000}\n",
        "schema_version: 1e400\nquestion: .nan\nstated: [.inf, 2001-01-01, null, {a: b}]\n",
        'question: !!python/object/apply:os.system ["true"]\n',
    ],
    ids=["laughs", "laughs in lists", "itself", "huge number", "deep", "odd values", "python"],
)
def test_what_the_user_seems_to_say_never_stops_a_diagnosis(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = copied(HEALTHY, tmp_path)
    (case / "incident.yaml").write_text(text)
    report = diagnosed(case, capsys)
    assert report["verdict"] == "healthy"
    assert len(json.dumps(report)) < 500_000


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (LAUGHS + "verdict: diagnosed\ncauses: *a14\nfixes: [{set: {--a: *a14}}]\n", "refers to itself"),
        ("verdict: &v [*v]\n", "refers to itself"),
        (f"causes: {'[' * 90_000}{']' * 90_000}\n", "is no YAML"),
        (f"verdict: 0x{'f' * 5000}\n", "is not a valid answer: verdict:"),
        ("verdict: diagnosed\ncauses: [1]\n", "is not a valid answer: causes.0:"),
        ("[]", "is not a valid answer"),
        ("verdict: 'a\x00b'\n", "is no YAML"),
    ],
    ids=["laughs", "itself", "deep", "huge number", "no text", "a list", "control character"],
)
def test_an_answer_that_is_none_is_one_sentence(
    text: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = copied(HEALTHY, tmp_path)
    (case / "answer.yaml").write_text(text)
    assert main(["eval", str(case), "--workers", "1"]) == ExitStatus.USAGE
    shown = capsys.readouterr().err
    assert wrong in shown and shown.count("\n") == 1 and len(shown) < 1000


@pytest.mark.parametrize(
    "text",
    [
        '{"pp_size": ' * 100_000,
        "[" * 100_000,
        '{"pp_size": ' + "9" * 100_000 + "}",
        '{"pp_size": NaN, "tp_size": Infinity, "dp_size": -1e400, "model_path": "\\ud800"}',
        '{"pp_size": "x", "model_path": "/m"}',
        '{"pp_size": 4, "pp_size": [], "model_path": "/m"}',
        '"text"',
    ],
    ids=["deep", "deep list", "huge", "no numbers", "a word", "twice", "a scalar"],
)
def test_a_servers_answer_without_a_number_of_stages_leaves_that_of_the_launch(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = copied(HEALTHY, tmp_path)
    (host_of(case) / "server_info.json").write_text(text)
    report = diagnosed(case, capsys)
    assert facts(report)["launch.pp_size"] == 4
    pp001 = next(row for row in report["hypotheses"] if row["cause"] == "PP001")
    assert not any("one pipeline stage only" in reason["says"] for reason in pp001["against"])


def test_files_of_windows_are_read_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copied(HEALTHY, tmp_path)
    plain = facts(diagnosed(case, capsys))
    for name in ("server_info.json", "model_config.json", "launch.txt", "gpus.csv"):
        path = host_of(case) / name
        path.write_bytes(path.read_text().encode("utf-16"))
    (case / "incident.yaml").write_bytes((case / "incident.yaml").read_bytes().join([b"\xef\xbb\xbf", b""]))
    assert facts(diagnosed(case, capsys)) == plain
