import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppagent.chat.opening import Options, begin
from ppagent.chat.session import Session
from tests.chat.chat_fakes import FakePerson, FakeScreen

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, no multiplexer around it, and no model named."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TMUX", "STY", "PPAGENT_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "state" / "ppagent"


@pytest.fixture
def seed() -> Iterator[Session]:
    """A session about the seed's incident, just begun."""
    yield begin(str(SEED), Options(FakeScreen(), dialog=FakePerson()))


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """The same after a whole investigation; shared by the tests of a module, which must not change it."""
    from ppagent.chat.looking import investigate

    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    session = begin(str(SEED), Options(FakeScreen()))
    investigate(
        session, "gpu util at 150/200 out of 600, seems like we're not properly pushing data into the pipeline?"
    )
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before
    yield session


@pytest.fixture
def answered(looked: Session) -> Callable[[str], str]:
    """What the session answers to a message."""
    from ppagent.chat.loop import take_turn
    from tests.chat.chat_fakes import screen_of

    def answer(text: str) -> str:
        screen_of(looked).lines.clear()
        take_turn(looked, text)
        return " ".join(screen_of(looked).text.split())

    return answer
