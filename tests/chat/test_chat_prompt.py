import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import Application, create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from ppagent.chat.completion import SessionCompleter
from ppagent.chat.looking import investigate
from ppagent.chat.loop import take_turn, talk
from ppagent.chat.opening import Options, begin
from ppagent.chat.prompt import MaskedHistory, Prompt, history_file
from ppagent.chat.session import Session
from ppagent.plugins import Grade
from tests.chat.chat_fakes import FakeScreen, fake_session, probe, screen_of
from tests.chat.conftest import SEED
from tests.sglang.source_samples import package


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def completions(session: Session, text: str) -> list[str]:
    completer = SessionCompleter()
    completer.session = session
    return [found.text for found in completer.get_completions(Document(text), CompleteEvent())]


@pytest.mark.parametrize("at", ["message", "approval"])
def test_ctrl_z_stops_the_program_as_in_a_shell_and_what_was_typed_stays(
    at: str, keys: PipeInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[bool] = []
    monkeypatch.setattr(Application, "suspend_to_background", lambda app, suspend_group=True: stopped.append(True))
    prompt = Prompt()

    if at == "message":
        keys.send_text("why\x1a is it slow?\n")
        assert prompt.read() == "why is it slow?"
    else:
        monkeypatch.setattr("ppagent.chat.prompt._forget_typed", lambda keyboard: None)
        keys.send_text("y\x1a\n")
        assert prompt.ask("allow it? ") == "y"

    assert stopped == [True]


def test_a_line_is_read_and_ctrl_d_is_the_end(keys: PipeInput) -> None:
    keys.send_text("why is it slow?\n\x04")
    prompt = Prompt()

    assert prompt.read() == "why is it slow?"
    with pytest.raises(EOFError):
        prompt.read()


def test_ctrl_c_interrupts(keys: PipeInput) -> None:
    keys.send_text("half a line\x03")

    with pytest.raises(KeyboardInterrupt):
        Prompt().read()


def test_pasted_lines_stay_one_message(keys: PipeInput) -> None:
    keys.send_text("\x1b[200~[2026-11-29] Decode batch\nsecond line\x1b[201~\n")

    assert Prompt().read() == "[2026-11-29] Decode batch\nsecond line"


def test_history_outlives_the_session_without_secrets_and_for_its_owner_only(keys: PipeInput) -> None:
    keys.send_text("use --api-key sk-abcdefghijklmnop1234 please\nwhy?\n")
    Prompt().read()
    assert Prompt().read() == "why?"

    assert list(MaskedHistory(str(history_file())).load_history_strings()) == ["why?", "use --api-key [masked] please"]
    assert "abcdefghijklmnop1234" not in history_file().read_text()
    assert history_file().stat().st_mode & 0o777 == 0o600


def test_what_is_called_back_in_the_same_session_has_no_secret_either() -> None:
    history = MaskedHistory(str(history_file()))

    history.append_string("password=hunter2hunter2")

    assert history.get_strings() == ["password=[masked]"]


def test_answers_go_into_no_history(keys: PipeInput, state: Path) -> None:
    keys.send_text("y\n")

    Prompt().ask("allow it? ")

    assert (state / "history").read_text() == ""


def test_tab_completes_a_command(keys: PipeInput) -> None:
    keys.send_text("/boa\t\n")
    completer = SessionCompleter()
    completer.session = fake_session()

    assert Prompt(completer).read() == "/board"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/ev", ["/evidence"]),
        ("/why PP00", ["PP001", "PP002", "PP003", "PP004", "PP005", "PP006", "PP007", "PP008", "PP009"]),
        ("/evidence E4", ["E4", "E40", "E41", "E42", "E43", "E44", "E45", "E46", "E47", "E48", "E49"]),
        ("/propose P", ["P1", "P2", "P3"]),
        ("is it KV00", ["KV001", "KV002", "KV003", "KV004", "KV005"]),
        ("what if --pp-max", ["--pp-max-micro-batch-size"]),
        ("/predict --pp-async", ["--pp-async-batch-depth"]),
        ("/export rec", ["recording "]),
        ("/help cop", ["copy"]),
        ("plain words ", []),
        ("/board ", []),
    ],
)
def test_what_is_completed(text: str, expected: list[str], looked: Session) -> None:
    assert completions(looked, text) == expected


def test_flags_are_those_of_the_installed_version(looked: Session) -> None:
    assert "--disable-cuda-graph" in completions(looked, "--disable-cuda")


def test_flags_of_a_patched_installation_are_its_own(tmp_path: Path) -> None:
    session = patched(tmp_path, without=["--pp-async-batch-depth"])

    assert completions(session, "what if --pp-a") == []
    assert completions(session, "what if --pp-max") == ["--pp-max-micro-batch-size"]
    take_turn(session, "what does --pp-async-batch-depth do?")
    shown = screen_of(session).text
    assert "In SGLang 0.5.11\n  Not there: the launch stops with `unrecognized arguments`." in shown


def patched(root: Path, **patches: object) -> Session:
    """The seed's session, on an SGLang whose own source was recorded with it."""
    shutil.copytree(SEED, root / "r")
    source = root / "r" / "hosts" / "gpu-box" / "source"
    for path, text in package("0.5.11", **patches).items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text)
    session = begin(str(root / "r"), Options(FakeScreen()))
    investigate(session)
    return session


class Typist(Prompt):
    """Types an answer when it is asked, and what comes next behind it."""

    def __init__(self, keys: PipeInput, *answers: str) -> None:
        super().__init__()
        self.keys, self.answers = keys, list(answers)

    def ask(self, question: str) -> str:
        if self.answers:
            self.keys.send_text(self.answers.pop(0))
        return super().ask(question)


def test_a_conversation_with_an_approval_and_a_way_out(keys: PipeInput) -> None:
    tool = probe(Grade.LOAD)
    session = fake_session(tool)
    person = Typist(keys, "no, in production\n/board\n\x03", "y\n")
    session.consent.dialog = person
    keys.send_text("why is it slow?\n")

    assert talk(session, person) is None

    assert tool.runs == []
    assert "not allowed: in production" in screen_of(session).text
    assert "1 causes" in screen_of(session).text


def test_what_was_typed_before_a_question_stood_there_does_not_answer_it(keys: PipeInput) -> None:
    person = Typist(keys, "n\n")
    keys.send_text("why is it slow?\ny\n")

    assert person.read() == "why is it slow?"
    assert person.ask("allow it? ") == "n"
