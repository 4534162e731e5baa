"""`flags`, `check` and `explain` take whatever `diagnose` takes, and read what is installed there."""

import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.cli import installation
from ppagent.cli.main import main
from ppagent.errors import ExitStatus
from ppagent.sglang.flags.installed import installed_flags
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.link import Running
from ppagent.targets.remote.local_link import LocalLink
from tests.fixtures.fake_server import PACKAGE, FakeServer
from tests.fixtures.sshd import Sshd, free_port, running
from tests.sglang.source_samples import package, server_args

LIMIT = "--pp-max-micro-batch-size"
OWN = 'parser.add_argument("--pp-refill-stride", type=int, default=4)'
SERVER = "python -m sglang.launch_server --model-path m --pp-size 2 --disable-overlap-schedule"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def record(root: Path, command: str = SERVER, version: str = "0.5.10", host: str = "box", **patches: object) -> Path:
    folder = root / "hosts" / host
    folder.mkdir(parents=True)
    (folder / "launch.txt").write_text(command)
    (folder / "sglang_version.txt").write_text(version)
    for path, text in package(version, **patches).items() if patches else ():
        (folder / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / path).write_text(text)
    return root


def packed(root: Path) -> Path:
    archive = root.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as bundle:
        bundle.add(root, root.name)
    return archive


def flags(capsys: Captured, *words: str) -> tuple[dict[str, dict[str, object]], str]:
    assert main(["flags", *words, "--format", "json"]) == ExitStatus.OK
    captured = capsys.readouterr()
    return {str(entry["name"]): entry for entry in json.loads(captured.out)}, captured.err


def checked(capsys: Captured, *words: str) -> tuple[dict[str, object], str]:
    main(["check", *words, "--format", "json"])
    captured = capsys.readouterr()
    return dict(json.loads(captured.out)), captured.err


@pytest.mark.parametrize("pack", [False, True])
def test_a_recording_packed_or_not_is_answered_from_its_own_source(
    pack: bool, tmp_path: Path, capsys: Captured
) -> None:
    root = record(tmp_path / "r", without=[LIMIT], more=OWN)
    target = str(packed(root) if pack else root)
    listed, remarks = flags(capsys, target)
    assert "--pp-refill-stride" in listed and LIMIT not in listed
    assert "The flags of SGLang 0.5.10, read in the installed source." in remarks
    assert "is not the published 0.5.10: it adds --pp-refill-stride, lacks --pp-max-micro-batch-size" in remarks
    assert checked(capsys, target)[0]["accepted"] is True


def test_without_a_source_the_table_is_named(tmp_path: Path, capsys: Captured) -> None:
    listed, remarks = flags(capsys, str(record(tmp_path / "r")))
    assert len(listed) == 354
    assert remarks == "ppagent: The flags of SGLang 0.5.10, by the table of published versions.\n"


def test_a_flag_that_only_the_source_has_is_accepted_and_one_it_lacks_is_refused(
    tmp_path: Path, capsys: Captured
) -> None:
    root = record(tmp_path / "r", f"{SERVER} --pp-refill-stride 2 {LIMIT} 1", without=[LIMIT], more=OWN)
    document, _ = checked(capsys, str(root))
    assert (document["accepted"], document["flags"], document["version"]) == (False, "source", "0.5.10")
    refused = [problem["flag"] for problem in document["problems"] if problem["kind"] == "refused"]  # type: ignore[index, attr-defined]
    assert refused == [LIMIT]
    by_table, _ = checked(capsys, str(root), "--version", "0.5.10")
    assert by_table["flags"] == "table"
    assert [problem["flag"] for problem in by_table["problems"]][:1] == ["--pp-refill-stride"]  # type: ignore[attr-defined]


def test_a_source_that_cannot_be_read_is_said_beside_the_verdict(tmp_path: Path, capsys: Captured) -> None:
    root = record(tmp_path / "r", more=OWN)
    (root / "hosts/box/source/sglang/srt/server_args.py").write_text("class (")
    assert main(["check", str(root)]) == ExitStatus.OK
    captured = capsys.readouterr()
    assert captured.out == "box: SGLang 0.5.10 accepts this launch command.\n"
    assert "The installed flags cannot be read" in captured.err and "the published 0.5.10" in captured.err


def test_a_build_between_releases_names_the_release_that_answers(tmp_path: Path, capsys: Captured) -> None:
    root = record(tmp_path / "r", version="0.5.11.dev0+g1a2b3c4")
    nearest = "built from source; the nearest earlier release known is 0.5.10.post1"
    assert nearest in flags(capsys, str(root))[1]
    assert main(["check", str(root)]) == ExitStatus.OK
    captured = capsys.readouterr()
    assert captured.out.startswith("box: SGLang 0.5.11.dev0+g1a2b3c4 accepts") and nearest in captured.err
    assert main(["check", SERVER, "--version", "0.5.11.dev0+g1a2b3c4"]) == ExitStatus.OK
    assert nearest in capsys.readouterr().err


def test_hosts_of_one_version_share_the_source_that_was_recorded(tmp_path: Path, capsys: Captured) -> None:
    command = f"{SERVER} --pp-refill-stride 2"
    root = record(tmp_path / "r", command, more=OWN)
    record(root, command, host="second")
    document, _ = checked(capsys, str(root))
    assert (document["accepted"], document["flags"]) == (True, "source")
    assert "--pp-refill-stride" in flags(capsys, str(root))[0]


def test_pasted_text_tells_command_and_version(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    text = f"We run SGLang 0.5.10 like this:\n\n```\n{SERVER} --pp 8\n```\n\nWhy does it not start?\n"
    for command in (["check", "-"], ["flags", "-", "pp-async"]):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        status = main(command)
        captured = capsys.readouterr()
        if command[0] == "check":
            assert status == ExitStatus.FAILURE and captured.out.startswith("SGLang 0.5.10 refuses")
        else:
            assert captured.out.startswith("SGLang 0.5.10: 1 flag that matches pp-async\n")


def test_a_log_without_a_launch_command_is_said_to_have_none(tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "server.log"
    log.write_text("[2026-01-02 03:04:05] Decode batch, #running-req: 1, #token: 4\n")
    assert main(["check", str(log), "--version", "0.5.10"]) == ExitStatus.USAGE
    assert "server.log holds no launch command." in capsys.readouterr().err


def test_a_log_that_shows_how_its_server_was_started_is_checked(tmp_path: Path, capsys: Captured) -> None:
    log = tmp_path / "server.log"
    log.write_text(f"+ {SERVER}\n[2026-01-02 03:04:05] Decode batch, #running-req: 1, #token: 4\n")
    assert main(["check", str(log), "--version", "0.5.10"]) == ExitStatus.OK
    assert capsys.readouterr().out == "SGLang 0.5.10 accepts this launch command.\n"


def test_a_flag_is_explained_as_the_installation_has_it(tmp_path: Path, capsys: Captured) -> None:
    root = record(tmp_path / "r", defaults={LIMIT: 4}, more=OWN)
    assert main(["explain", LIMIT, "--target", str(root)]) == ExitStatus.OK
    captured = capsys.readouterr()
    assert "In SGLang 0.5.10\n  There: int, default 4." in captured.out
    assert "read in the installed source" in captured.err
    assert main(["explain", "--pp-refill-stride", "--target", str(root)]) == ExitStatus.OK
    assert "There: int, default 4." in capsys.readouterr().out
    assert main(["explain", LIMIT, "--target", str(root), "--version", "0.5.10"]) == ExitStatus.USAGE


# live hosts


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeServer]:
    """A server whose installed package has a flag of its own and lacks one."""
    root = tmp_path_factory.mktemp("patched")
    shutil.copytree(PACKAGE, root / "site")
    more = f'{OWN}\nparser.add_argument("--odd", type=int, default=1)'
    (root / "site/sglang/srt/server_args.py").write_text(server_args("0.5.10", without=[LIMIT], more=more))
    running = FakeServer(root, words=("--pp-size", "2"), env={"PYTHONPATH": str(root / "site")}).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture(params=["local", "ssh://box"])
def live(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "local":
        server: Sshd = request.getfixturevalue("sshd")
        config = server.ssh_config("box")
        both = config.with_name("config-both")
        dead = f"Host dead\n  HostName 127.0.0.1\n  Port {free_port()}\n"
        both.write_text(config.read_text() + config.read_text().replace("Host box", "Host second") + dead)
        monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(both))
    return str(request.param)


def test_the_flags_of_a_live_server_are_read_in_its_package(live: str, patched: FakeServer, capsys: Captured) -> None:
    listed, remarks = flags(capsys, live, "--port", str(patched.port))
    assert "--pp-refill-stride" in listed and LIMIT not in listed
    assert "The flags of SGLang 0.5.10, read in the installed source." in remarks


def test_the_launch_of_a_live_server_is_checked_against_its_package(
    live: str, patched: FakeServer, capsys: Captured
) -> None:
    document, _ = checked(capsys, live, "--port", str(patched.port))
    assert (document["version"], document["flags"]) == ("0.5.10", "source")
    assert isinstance(document["accepted"], bool)


@pytest.mark.parametrize("live", ["ssh://box"], indirect=True)
def test_several_hosts_are_checked_one_by_one_and_one_that_is_away_is_said(
    live: str, patched: FakeServer, capsys: Captured
) -> None:
    document, _ = checked(capsys, "ssh://box,ssh://second", "--port", str(patched.port))
    assert document["flags"] == "source"
    assert main(["flags", "ssh://box,ssh://dead", "refill-stride", "--port", str(patched.port)]) == ExitStatus.OK
    assert capsys.readouterr().out.startswith(
        "SGLang 0.5.10: 1 flag that matches refill-stride\n\n--pp-refill-stride\n"
    )
    document, remarks = checked(capsys, "ssh://box,ssh://dead", "--port", str(patched.port))
    assert "problems" in document and "cannot be reached" in remarks


class Counting(LocalLink):
    """A link that notes each command."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    def start(self, argv: list[str], *, timeout_s: float, stdin: bytes = b"") -> Running:
        self.ran.append(argv[0])
        return super().start(argv, timeout_s=timeout_s, stdin=stdin)


def test_a_package_elsewhere_is_listed_once_and_read_in_one_go(patched: FakeServer) -> None:
    link = Counting()
    host = LiveHost(link, port=patched.port, windows=installation.BRIEF)
    source = host.source()
    before = len(link.ran)
    assert installed_flags(lambda: source, "0.5.10").from_source
    assert link.ran[before : before + 2] == ["find", "tar"]


def test_a_machine_without_a_server_is_said_to_have_none(capsys: Captured) -> None:
    port = str(free_port())
    assert main(["check", "local", "--port", port]) != ExitStatus.OK
    assert main(["flags", "local", "--port", port]) != ExitStatus.OK
    assert capsys.readouterr().out == ""


def test_a_live_server_is_only_glanced_at() -> None:
    assert installation.BRIEF.gpu_s + installation.BRIEF.cpu_s + installation.BRIEF.scrape_gap_s < 1
