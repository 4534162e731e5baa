"""Whether the server works for others: told from what it holds before anything of ours is sent."""

import pytest

from ppagent.bench.control import Control
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.sglang.loads import Loads, RankLoad
from ppagent.trials import others
from ppagent.trials.others import serves_others
from ppagent.trials.own_load import OwnLoad
from tests.bench.fakes import FakeServer


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(others, "BETWEEN_LOOKS_S", 0.05)


def test_a_server_without_requests_serves_nobody() -> None:
    with FakeServer() as server:
        assert not serves_others(Control(server.endpoint))


@pytest.mark.parametrize(("tokens", "looks"), [(0, 3), (900, 4)])
def test_no_more_looks_are_taken_than_decide_it(tokens: int, looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def loads(_: Control) -> Loads:
        taken.append(1)
        return Loads(ranks=(RankLoad(slot_running=0, waiting=0, used_tokens=tokens),))

    monkeypatch.setattr(Control, "loads", loads)
    assert serves_others(Control(FakeServer().endpoint)) == bool(tokens)
    assert len(taken) == looks


def test_requests_that_are_held_are_somebody_elses() -> None:
    shape = Shape(concurrency=4, input_tokens=Span(4, 4), output_tokens=Span(60, 80))
    with FakeServer(base_ms=3) as server:
        load = OwnLoad(server.endpoint, shape, PromptSource())
        load.start()
        try:
            assert serves_others(Control(server.endpoint))
        finally:
            load.stop(wait=False)


def test_a_server_that_tells_nothing_is_taken_for_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        gone = Control(server.endpoint)
    assert not serves_others(gone)


def test_tokens_that_are_held_tell_of_slots_that_were_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a real server of eight stages with eight requests in one slot answers (0.5.23)."""
    held = Loads(ranks=(RankLoad(slot_running=0, waiting=0, used_tokens=2064),))
    monkeypatch.setattr(Control, "loads", lambda control: held)
    assert serves_others(Control(FakeServer().endpoint))
