import pytest

from ppagent.bench import reach as reaching
from ppagent.bench.control import Control
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.key import let_in_by
from ppagent.errors import ToolError
from tests.bench.fakes import FakeServer, free_port


def test_a_key_is_asked_for_once_and_opens_what_follows() -> None:
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "secret\n"

    with FakeServer(key="secret") as server:
        opened = let_in_by(server.endpoint, "ssh://box/30000", ask)
        assert Control(opened).server_info().version == "0.5.23"
        assert opened.admin_headers == {"Authorization": "Bearer secret"}
        assert let_in_by(opened, "", ask) is opened
    assert asked == ["API key of ssh://box/30000: "]
    assert "secret" not in repr(opened)


def test_the_key_for_changes_stays_that_of_the_environment() -> None:
    with FakeServer(key="secret") as server:
        known = parse_endpoint(server.url, {"SGLANG_API_KEY": "old", "SGLANG_ADMIN_API_KEY": "admin"})
        assert let_in_by(known, "", lambda prompt: "secret").admin_headers == {"Authorization": "Bearer admin"}


def test_a_wrong_key_is_said_and_not_asked_for_again() -> None:
    with FakeServer(key="secret") as server, pytest.raises(ToolError, match="does not take that API key"):
        let_in_by(server.endpoint, "x", lambda prompt: "wrong")


@pytest.mark.parametrize("key", ["", "secret"])
def test_nobody_is_asked_where_no_key_is_wanted_or_nothing_answers(key: str) -> None:
    def ask(prompt: str) -> str:
        raise AssertionError(prompt)

    with FakeServer(key=key) as server:
        endpoint = parse_endpoint(server.url, {"SGLANG_API_KEY": key})
        assert let_in_by(endpoint, "x", ask) is endpoint
    gone = parse_endpoint(f"http://127.0.0.1:{free_port()}")
    assert let_in_by(gone, "x", ask) is gone


def test_without_a_terminal_the_server_is_left_to_say_what_it_wants() -> None:
    with FakeServer(key="secret") as server:
        reached = reaching.reach(server.url, None, {})
        with pytest.raises(ToolError, match="wants a key: put it into SGLANG_API_KEY"):
            reached.control.server_info()
