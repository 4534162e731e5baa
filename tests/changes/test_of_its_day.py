from ppagent.causes.catalog import cause_of
from ppagent.causes.judge import judge
from ppagent.changes.of_its_day import of_its_day
from ppagent.changes.plan import make_plan
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from ppagent.sglang.flags.history import versions_known
from ppagent.sglang.flags.release_days import RELEASED, newest_by


def facts_of(values: dict[str, FactValue]) -> Facts:
    return Facts([Evidence("E1", "logs.startup", "server.log", values, "", "box", "", 2)])


def above_graphs(**more: FactValue) -> Facts:
    """A server whose larger batches run without a graph."""
    seen: dict[str, FactValue] = {
        "args.pp_size": 1,
        "start.graph_sizes": [1, 2, 4, 8, 16],
        "decode.running_req.p95": 40,
        "decode.running_req.max": 48,
        "decode.graph_true_max": 16,
        "decode.graph_false_min": 17,
        "decode.lines": 200,
        "decode.graph_share": 0.3,
    }
    return facts_of({**seen, **more})


def test_every_published_version_has_its_day_and_days_go_up() -> None:
    assert tuple(RELEASED) == versions_known()
    assert list(RELEASED.values()) == sorted(RELEASED.values())


def test_the_newest_version_by_a_day() -> None:
    assert newest_by("2025-11-11") == "0.5.5.post1"
    assert newest_by("2026-06-26") == "0.5.14"
    assert newest_by("2026-06-25") == "0.5.13.post1"
    assert newest_by("2030-01-01") == versions_known()[-1]
    assert newest_by("2024-01-01") == ""


def test_without_a_version_a_flag_has_the_name_of_its_day_and_the_later_one_is_told() -> None:
    found = of_its_day(facts_of({"recording.at": "2025-11-11"}))
    assert found is not None
    (told,) = found.other_names(["--cuda-graph-max-bs", "--max-running-requests"])
    assert "0.5.5.post1" in told and "from 0.5.14 on it is called --cuda-graph-max-bs-decode" in told
    assert of_its_day(facts_of({})) is None


def test_a_plan_without_a_version_spells_by_the_day_and_one_with_a_version_by_that() -> None:
    def flags(facts: Facts) -> set[str]:
        plan = make_plan([judge(cause_of("CG002"), facts)], facts)
        return {flag for proposal in plan.proposals for flag in proposal.change.set}

    assert flags(above_graphs(**{"recording.at": "2025-11-11"})) == {"--cuda-graph-max-bs"}
    assert flags(above_graphs(**{"recording.at": "2026-11-11"})) == {"--cuda-graph-max-bs-decode"}
    assert flags(above_graphs()) == {"--cuda-graph-max-bs-decode"}
    told = above_graphs(**{"recording.at": "2025-11-11", "engine.version": "0.5.14"})
    assert flags(told) == {"--cuda-graph-max-bs-decode"}
