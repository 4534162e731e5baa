"""The shell tools over a target: what runs, what is refused, who is asked."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tool_fakes import FakeTarget

from ppagent.agent.approvals import Request
from ppagent.agent.choosing import ToolCall
from ppagent.agent.investigation import investigate
from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.ledger import Ledger
from ppagent.plugins import Grade, ToolContext, discover
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.link import Ran, run
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.target import Artifact
from ppagent_tools.shell import AnyCommand, CommandArguments, Read
from tests.agent.fakes import FakeBrain, built_in, no_plan


class Counting(LiveHost):
    """This machine, with some places of a server, counting what is run."""

    def __init__(self, *places: str) -> None:
        super().__init__(LocalLink())
        self.ran: list[list[str]] = []
        self._given = places

    def places(self) -> tuple[str, ...]:
        return self._given

    def command(self, argv: Sequence[str], timeout_s: float) -> Ran:
        self.ran.append(list(argv))
        return super().command(argv, timeout_s)


def ask(host: LiveHost, *argv: str, tool: type[Read] | type[AnyCommand] = Read, on: str = "") -> dict[str, object]:
    context = ToolContext(LiveTarget({"box": host}, "local"))
    (finding,) = tool().run(context, CommandArguments(argv=list(argv), host=on))
    return dict(finding.facts)


def test_a_listed_command_is_run_and_its_answer_is_evidence() -> None:
    facts = ask(Counting(), "uname", "-s")
    assert facts == {"command.argv": "uname -s", "command.exit": 0, "command.output": "Linux\n"}


def test_what_is_not_listed_is_refused_and_never_reaches_the_host() -> None:
    host = Counting()
    for argv in (["rm", "-rf", "/tmp/x"], ["uname", "-s", "&&", "id"], ["cat", "/etc/shadow"], ["sh", "-c", "id"]):
        with pytest.raises(ToolError, match="not run without a person's word"):
            ask(host, *argv)
    assert host.ran == []


def test_a_failing_command_says_how(tmp_path: Path) -> None:
    facts = ask(Counting(str(tmp_path)), "cat", f"{tmp_path}/none")
    assert facts["command.exit"] == 1
    assert "No such file" in str(facts["command.complaint"])


def test_a_link_out_of_an_allowed_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("/etc/passwd")
    (tmp_path / "good").write_text("fine\n")
    host = Counting(str(tmp_path))
    with pytest.raises(ToolError, match="a link leads elsewhere"):
        ask(host, "cat", f"{tmp_path}/log")
    assert [argv[0] for argv in host.ran] == ["readlink"]
    assert ask(host, "cat", f"{tmp_path}/good")["command.output"] == "fine\n"


def test_wildcards_and_variables_are_plain_words(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a $HOME line\n")
    assert ask(Counting(str(tmp_path)), "grep", "-c", "$HOME line$", f"{tmp_path}/log")["command.output"] == "1\n"


def test_only_hosts_of_the_target_can_be_named() -> None:
    host = Counting()
    with pytest.raises(ToolError, match="'evil.example' is no host of this target; it has box"):
        ask(host, "uname", on="evil.example")
    assert host.ran == []


def test_secrets_in_an_answer_are_masked_before_they_are_kept(tmp_path: Path) -> None:
    secrets = ("server_args=ServerArgs(api_key='s3cret-key-abc')", "HF_TOKEN=hf_0123456789abcdefghijklmn")
    (tmp_path / "log").write_text("\n".join(secrets))
    host = Counting(str(tmp_path))
    context = ToolContext(LiveTarget({"box": host}, "local"))
    (finding,) = Read().run(context, CommandArguments(argv=["cat", f"{tmp_path}/log"]))
    kept = Ledger().add("shell.read", finding)
    assert "s3cret" not in str(kept) and "hf_0123" not in str(kept)
    assert "s3cret" not in host.text(Artifact.COMMANDS) and "hf_0123" not in host.text(Artifact.COMMANDS)


def test_what_was_run_is_noted_as_a_recording_notes_it() -> None:
    host = Counting()
    ask(host, "uname", "-s")
    row = json.loads(host.text(Artifact.COMMANDS))
    assert (row["argv"], row["exit"], row["stdout"], row["stderr"]) == (["uname", "-s"], 0, "Linux\n", "")
    recording = FakeTarget({"box": {Artifact.COMMANDS: host.text(Artifact.COMMANDS)}})
    (finding,) = Read().run(ToolContext(recording), CommandArguments(argv=["uname", "-s"]))
    assert finding.facts["command.output"] == "Linux\n"
    with pytest.raises(NotRecorded, match="uname -r was not recorded"):
        Read().run(ToolContext(recording), CommandArguments(argv=["uname", "-r"]))


def test_a_command_on_a_recording_is_never_run_here(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with pytest.raises(NotRecorded):
        AnyCommand().run(ToolContext(FakeTarget()), CommandArguments(argv=["touch", str(trace)]))
    assert not trace.exists()


def look(trace: Path, calls: int, answers: list[bool] | None, ceiling: Grade = Grade.READ_HOST):  # type: ignore[no-untyped-def]
    """An investigation whose brain wants to run a free command, each time a little different; who answers for it."""
    asked: list[Request] = []

    def approver(request: Request) -> bool:
        asked.append(request)
        return bool(answers) and answers.pop(0)

    wanted = [ToolCall("shell.run", "to see", {"argv": ["touch", f"{trace}{n}"]}) for n in range(calls)]
    target = LiveTarget({"box": Counting()}, "local")
    found = investigate(
        target, [built_in(AnyCommand())], brain=FakeBrain(wanted), planner=no_plan, ceiling=ceiling, session="s1",
        approver=None if answers is None else approver,
    )  # fmt: skip
    return found, asked


def test_a_free_command_is_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    found, _ = look(tmp_path / "x", 2, None)
    assert [(row["tool"], row["grade"]) for row in found.denied] == [("shell.run", 5)] * 2
    assert list(tmp_path.iterdir()) == []


def test_each_free_command_is_asked_for_anew(tmp_path: Path) -> None:
    found, asked = look(tmp_path / "x", 3, [True, False, True])
    assert len(asked) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x0", "x2"]
    assert len(found.denied) == 1


def test_both_tools_come_in_by_the_common_door_with_their_grades() -> None:
    (source,) = [source for source in discover() if source.name == "shell"]
    assert [(tool.name, tool.grade) for tool in source.tools] == [("shell.read", 2), ("shell.run", 5)]


def test_a_command_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ppagent_tools.shell.RUN_S", 0.3)
    with pytest.raises(ToolError, match="its time was up"):
        ask(Counting(), "sleep", "61.0625", tool=AnyCommand)
    assert run(LocalLink(), ["pgrep", "-fx", "sleep 61.0625"], timeout_s=5).exit == 1
