"""Restarts are dear: what can share one does, what contradicts does not."""

from ppagent.causes.cause import Change, Remedy
from ppagent.changes.merge import steps_of


def remedy(cause: str, kind: str = "relaunch", **options: object) -> Remedy:
    change = options.pop("change", Change())
    return Remedy(cause, kind, cause, change, ("E1",), **options)  # type: ignore[arg-type]


LIVE = remedy("PP001", "live", change=Change(set={"--limit": "1"}))
GRAPHS = remedy("CG001", change=Change(unset=("--off",)))


def test_a_live_change_comes_first_and_is_made_lasting_by_the_shared_restart() -> None:
    live, restart = steps_of([GRAPHS, LIVE])
    assert (live.kind, live.change) == ("live", Change(set={"--limit": "1"}))
    assert restart.kind == "relaunch"
    assert restart.change == Change({"--limit": "1"}, ("--off",))


def test_remedies_that_contradict_do_not_share_a_restart() -> None:
    other = remedy("KV001", change=Change(set={"--limit": "9"}))
    more = remedy("KV002", change=Change(set={"--off": "true"}))
    first, *rest = steps_of([GRAPHS, other, remedy("X", change=Change(set={"--limit": "3"})), more])
    assert first.change == Change({"--limit": "9"}, ("--off",))
    assert [step.change.set for step in rest] == [{"--limit": "3"}, {"--off": "true"}]


def test_an_alternative_stands_alone_and_an_extension_on_top_of_the_restart() -> None:
    alone = remedy("PP009", change=Change(set={"--tp-size": "8"}), alone=True)
    extends = remedy("PP001", change=Change(env={"SPLIT": "8,5"}), extends=True)
    shared, further, apart = steps_of([alone, GRAPHS, extends])
    assert shared.change == Change(unset=("--off",))
    assert further.change == Change(unset=("--off",), env={"SPLIT": "8,5"})
    assert apart.change == Change(set={"--tp-size": "8"})


def test_an_operators_action_comes_last() -> None:
    steps = steps_of([remedy("IC004", "operator"), LIVE])
    assert [step.kind for step in steps] == ["live", "relaunch", "operator"]
