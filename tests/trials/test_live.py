import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ppagent.bench.control import Control
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError
from ppagent.ledger import track_record
from ppagent.trials.change import LiveChange
from ppagent.trials.foresight import Foresight, levels_below, measure_levels
from ppagent.trials.limit import read_limit
from ppagent.trials.live import Outcome, run_live
from ppagent.trials.note import read_note
from ppagent.trials.outputs import OutputCheck
from ppagent.trials.own_load import OwnLoad
from ppagent.trials.record import RecordedForesight, record_outcome
from ppagent.trials.story import as_data, live_plan, live_result
from tests.bench.fakes import FakeServer

SHAPE = Shape(concurrency=8, think_s=0.002, input_tokens=Span(8, 8), output_tokens=Span(6, 14))
SOURCE = PromptSource()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(base_ms=6, per_request_ms=3) as running:
        yield running


def change_of(server: FakeServer, new: int) -> LiveChange:
    control = Control(server.endpoint, timeout_s=3)
    return LiveChange(control, server.url, read_limit(control), new)


def tried(server: FakeServer, new: int, seconds: float = 0.5, **options: object) -> Outcome:
    meter = OwnLoad(server.endpoint, SHAPE, SOURCE, turnovers=1, settle_limit_s=10)
    return run_live(change_of(server, new), meter, seconds=seconds, **{"rounds": 1, **options})  # type: ignore[arg-type]


def test_a_limit_that_spreads_is_better_and_nobody_is_left_without_an_answer(server: FakeServer) -> None:
    outcome = tried(server, 2, rounds=4, check=OutputCheck(Control(server.endpoint), tokens=4))
    assert outcome.comparison.outcome == "better"
    # 8 in one slot: 6 + 24 ms a turn; 2 in each of four: 6 + 6 ms, so 2.5 times as fast where the machine is idle.
    assert 0.5 < outcome.comparison.gain_share < 2
    assert outcome.in_flight_at_change > 8
    assert outcome.lost == 0
    assert outcome.outputs == "identical"
    assert (server.limit, read_note(server.url)) == (16, None)
    assert [list(setting.values())[0] for setting in server.settings][:2] == [2, 16]


def test_a_limit_that_changes_nothing_makes_no_difference(server: FakeServer) -> None:
    said: list[str] = []
    outcome = tried(server, 12, rounds=2, say=said.append)
    assert outcome.comparison.outcome in ("no difference", "cannot tell")
    assert [phase.label for phase in outcome.phases] == ["A", "B", "A again", "B 2", "A 3"]
    assert any(sentence.startswith("cannot tell yet") for sentence in said)
    assert [list(setting.values())[0] for setting in server.settings] == [12, 16, 12, 16]
    data = as_data(server.url, outcome)
    assert [phase["value"] for phase in data["phases"]] == [16, 12, 16, 12, 16]  # type: ignore[attr-defined]
    assert data["rounds"] == 2


def test_answers_that_change_with_the_setting_are_noticed(server: FakeServer) -> None:
    server.answer = lambda fake, prompt: f"{len(prompt)} under {fake.limit}"
    outcome = tried(server, 2, seconds=0.3, check=OutputCheck(Control(server.endpoint), tokens=3))
    assert outcome.outputs == "changed"
    assert "differ" in outcome.outputs_note


def test_answers_that_vary_anyway_prove_nothing(server: FakeServer) -> None:
    server.answer = lambda fake, prompt: f"{fake.served}"
    outcome = tried(server, 2, seconds=0.3, check=OutputCheck(Control(server.endpoint), tokens=3))
    assert outcome.outputs == "cannot tell"


def test_a_server_that_refuses_is_left_as_it_was(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.limit.BETWEEN_READ_BACKS_S", 0.01)
    server.refuses, server.truthful = True, False
    with pytest.raises(ToolError, match="holds 16"):
        tried(server, 2, seconds=0.4)
    assert (server.limit, read_note(server.url)) == (16, None)


def test_a_server_that_dies_in_the_middle_keeps_its_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.change.LiveChange.take_back.__defaults__", (0.5,))
    with FakeServer(base_ms=3) as server:
        _when(lambda: server.limit == 2, server.stop)
        with pytest.raises(ToolError):
            tried(server, 2, seconds=2)
        left = read_note(server.url)
    assert left is not None
    assert (left.old, left.new) == (16, 2)


def test_an_interrupt_in_the_middle_restores_and_stops_the_load(server: FakeServer) -> None:
    said: list[str] = []

    def say(sentence: str) -> None:
        said.append(sentence)
        if sentence.startswith("B:"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tried(server, 2, seconds=0.5, say=say)
    assert (server.limit, read_note(server.url)) == (16, None)
    served = server.served
    time.sleep(0.3)
    assert server.served == served


def test_a_load_that_fails_ends_the_trial(server: FakeServer) -> None:
    server.fails = lambda number: number > 60
    with pytest.raises(ToolError, match="requests failed"):
        tried(server, 2, seconds=3)
    assert server.limit == 16


def test_the_forecast_is_on_record_before_the_change_and_scored_after(server: FakeServer) -> None:
    levels = measure_levels(server.endpoint, SHAPE, SOURCE, levels_below(8), 0.3, lambda sentence: None)
    state = read_limit(Control(server.endpoint))
    made = Foresight(Control(server.endpoint).server_info(), levels, state.value, 2, 8)
    foresee = RecordedForesight(made, server.url, state, 2)
    on_record: list[int] = []
    real = server._set

    def spying(wanted: dict[str, object]) -> list[bool]:
        on_record.append(1 if foresee.made is not None else 0)
        return real(wanted)

    server._set = spying  # type: ignore[method-assign]
    outcome = tried(server, 2, foresee=foresee)
    record_outcome(foresee, outcome)
    assert on_record[0] == 1
    assert outcome.forecast is not None
    assert outcome.forecast.high > 1.3 * outcome.comparison.before
    found = track_record()
    assert found.count == 1
    assert 0 <= found.mean_error < 1
    told = live_result(outcome)
    assert "forecast" in told
    assert f"{outcome.forecast.low:.4g}" in told


def test_the_plan_tells_what_where_how_long_and_the_way_back(server: FakeServer) -> None:
    state = read_limit(Control(server.endpoint))
    plan = live_plan(server.url, state, 2, "own load", seconds=30, levels=(1, 4))
    for part in (
        server.url,
        "changes a setting of the running server and puts it back (grade 3)",
        "16 -> 2 -> 16",
        "5% or more",
        "above 8",
        "way back",
    ):
        assert part in plan
    assert "about 4 minutes, 10 minutes at the most where noise hides the answer" in plan


def test_the_result_as_data_names_change_verdict_and_forecast(server: FakeServer) -> None:
    data = as_data(server.url, tried(server, 2, seconds=0.6, rounds=4))
    assert data["change"] == {"set": {"--pp-max-micro-batch-size": "2"}, "unset": [], "env": {}}
    assert data["causes"] == ["PP001"]
    assert data["outcome"] == "better"
    assert data["restored"] is True
    assert data["predicted"] is None


def _when(holds: Callable[[], bool], then: Callable[[], None]) -> None:
    def wait() -> None:
        until = time.monotonic() + 10
        while not holds() and time.monotonic() < until:
            time.sleep(0.01)
        then()

    threading.Thread(target=wait, daemon=True).start()
