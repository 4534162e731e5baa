import pytest

from ppagent.bench.control import Control
from ppagent.errors import ToolError, UserError
from ppagent.trials.limit import LimitState, Refused, check_change, read_limit, set_limit
from tests.bench.fakes import FakeServer

STATE = LimitState("pp_max_micro_batch_size", (16,), 16, 4, "0.5.23")


def state(**changes: object) -> LimitState:
    fields = {name: getattr(STATE, name) for name in STATE.__dataclass_fields__}
    return LimitState(**{**fields, **changes})


def test_the_limit_in_force_is_read_from_the_scheduler() -> None:
    with FakeServer(stages=4, max_running=64) as server:
        found = read_limit(Control(server.endpoint))
    assert (found.value, found.highest, found.stages, found.version) == (16, 16, 4, "0.5.23")


def test_an_old_server_is_read_under_its_old_path() -> None:
    with FakeServer(version="0.5.4") as server:
        assert read_limit(Control(server.endpoint)).version == "0.5.4"


def test_a_change_is_read_back() -> None:
    with FakeServer() as server:
        set_limit(Control(server.endpoint), "pp_max_micro_batch_size", 2)
        assert server.limit == 2


@pytest.mark.parametrize("truthful", [True, False])
def test_a_refusal_is_found_whatever_the_server_answered(truthful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ppagent.trials.limit.BETWEEN_READ_BACKS_S", 0.01)
    with FakeServer(refuses=True, truthful=truthful, version="0.5.14" if not truthful else "0.5.23") as server:
        with pytest.raises(Refused, match="holds 16"):
            set_limit(Control(server.endpoint), "pp_max_micro_batch_size", 2)
        assert server.limit == 16


@pytest.mark.parametrize(
    ("now", "new", "word"),
    [
        (STATE, 17, "1 to 16"),
        (STATE, 0, "1 to 16"),
        (STATE, 16, "16 already"),
        (state(values=(200,)), 2, "could be lowered but not put back"),
        (state(values=(16, 8)), 2, "DP ranks have different limits"),
        (state(key="something_else"), 2, "takes no something_else"),
    ],
)
def test_a_change_that_would_fail_or_could_not_be_undone_is_refused_before(
    now: LimitState, new: int, word: str
) -> None:
    with pytest.raises(UserError) as caught:
        check_change(now, new)
    assert word in f"{caught.value}"


def test_a_server_that_does_not_tell_its_most_names_none() -> None:
    with pytest.raises(UserError, match="takes: 1 or more"):
        check_change(state(highest=None), 0)


def test_a_change_within_the_range_is_allowed() -> None:
    check_change(STATE, 1)
    check_change(state(highest=None), 3)


def test_the_key_is_the_one_of_the_version() -> None:
    with FakeServer(version="0.4.10") as server:
        assert read_limit(Control(server.endpoint)).key == "max_micro_batch_size"


def test_a_server_that_tells_no_state_is_said_so() -> None:
    with FakeServer() as server:
        server.tells_state = False
        with pytest.raises(ToolError, match="does not tell its slot limit"):
            read_limit(Control(server.endpoint))
