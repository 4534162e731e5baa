import pytest

from ppagent.agent.board import Board, Verdict, compute_board, verdict_of
from ppagent.agent.probes import next_probes
from ppagent.agent.summary import in_plan_order, summary_of
from ppagent.causes.cause import Change, Declined
from ppagent.changes.proposal import Plan, Proposal
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from tests.agent.fakes import FakeCause

SUSPECTS = {
    "PP001": "source.unfilled",
    "PP003": "source.pinned",
    "KV001": "source.full",
    "KV002": "source.capped",
    "CG001": "source.no_graphs",
}
LOAD = FakeCause("LB001", "source.idle", name="offered load too low")
HANG = FakeCause("PP008", "source.hangs", weights=(0.6, 0.2))
CAUSES = [*(FakeCause(cause, fact) for cause, fact in SUSPECTS.items()), LOAD, HANG]

AT_WORK: dict[str, FactValue] = {
    "decode.lines": 40,
    "args.pp_size": 8,
    "args.device": "cuda",
    "engine.version": "0.5.10",
    "bench.levels": [{"concurrency": 8, "output_throughput": 95.6}],
    "gpu.power_w": {str(card): 300 for card in range(8)},
}
CLEARED: dict[str, FactValue] = dict.fromkeys(SUSPECTS.values(), False)


def board_of(facts: dict[str, FactValue]) -> tuple[Board, Facts]:
    known = Facts([Evidence("E1", "logs.decode", "server.log", facts)])
    return compute_board(known, CAUSES), known


def verdict(facts: dict[str, FactValue]) -> Verdict:
    return verdict_of(*board_of(facts))


def test_a_supported_fault_is_a_diagnosis_even_where_the_server_was_never_seen_at_work() -> None:
    assert verdict({"source.hangs": True, "source.full": True}) == "diagnosed"


def test_a_server_seen_at_work_and_cleared_of_every_suspect_is_healthy() -> None:
    assert verdict({**AT_WORK, **CLEARED}) == "healthy"


def test_low_load_alone_leaves_the_server_healthy() -> None:
    assert verdict({**AT_WORK, **CLEARED, "source.idle": True}) == "healthy"


@pytest.mark.parametrize("suspect", SUSPECTS.values())
def test_a_suspect_that_was_never_cleared_forbids_healthy(suspect: str) -> None:
    facts = {**AT_WORK, **CLEARED}
    del facts[suspect]

    assert verdict(facts) == "not_enough_evidence"


def test_without_a_pipeline_its_causes_need_no_clearing() -> None:
    facts = {**AT_WORK, **CLEARED, "args.pp_size": 1}
    del facts["source.unfilled"], facts["source.pinned"]

    assert verdict(facts) == "healthy"


def test_without_cuda_graphs_need_no_clearing() -> None:
    facts = {**AT_WORK, **CLEARED, "args.device": "cpu"}
    del facts["source.no_graphs"]

    assert verdict(facts) == "healthy"


def test_a_server_that_was_not_seen_at_work_is_not_called_healthy() -> None:
    assert verdict({**AT_WORK, **CLEARED, "decode.lines": 0}) == "not_enough_evidence"
    assert verdict({**CLEARED, "decode.lines": 40}) == "not_enough_evidence"


def test_a_metrics_window_shows_work_as_well_as_the_log() -> None:
    facts = {**AT_WORK, **CLEARED, "metrics.window_s": 30.0}
    del facts["decode.lines"]

    assert verdict(facts) == "healthy"


@pytest.mark.parametrize(
    ("decodes", "prefills", "expected"),
    [(1, 0, "not_enough_evidence"), (9, 0, "not_enough_evidence"), (1, 99, "not_enough_evidence"), (3, 7, "healthy")],
)
def test_a_few_lines_are_not_a_server_seen_at_work(decodes: int, prefills: int, expected: str) -> None:
    assert verdict({**AT_WORK, **CLEARED, "decode.lines": decodes, "prefill.lines": prefills}) == expected


@pytest.mark.parametrize(("fact", "tool"), [("bench.levels", "bench.results")])
def test_health_needs_a_speed_besides_the_logs(fact: str, tool: str) -> None:
    facts = {**AT_WORK, **CLEARED}
    del facts[fact]
    board, known = board_of(facts)

    assert verdict_of(board, known) == "not_enough_evidence"
    probes = next_probes(board, known)
    assert probes[0].tool == tool
    said = summary_of("not_enough_evidence", board, known, Plan((), (), {}, ()), probes)
    assert said.startswith("Nothing wrong was seen, but too little")


def test_decoding_without_graphs_is_never_healthy_whatever_causes_it() -> None:
    assert verdict({**AT_WORK, **CLEARED, "decode.graph_true_share": 0.02}) == "not_enough_evidence"
    assert verdict({**AT_WORK, **CLEARED, "decode.graph_true_share": 0.98}) == "healthy"


def test_without_cards_two_load_levels_have_to_show_that_no_stage_is_slower() -> None:
    facts = {**AT_WORK, **CLEARED, "args.device": "cpu", "internal.slot_limit": 1}
    del facts["gpu.power_w"]
    assert verdict(facts) == "not_enough_evidence"

    alone = {"concurrency": 1, "output_throughput": 2.8, "mean_itl_ms": 350.0}
    filled = {"concurrency": 8, "output_throughput": 20.0, "mean_itl_ms": 390.0}
    assert verdict({**facts, "bench.levels": [alone, filled]}) == "healthy"


def test_cards_of_every_stage_have_to_be_seen_before_a_full_pipeline_is_healthy() -> None:
    facts = {**AT_WORK, **CLEARED, "gpu.power_w": {"0": 300, "1": 300}}
    board, known = board_of(facts)
    assert verdict_of(board, known) == "not_enough_evidence"
    assert "gpu.samples" in [probe.tool for probe in next_probes(board, known)]
    few = [{"concurrency": 2, "output_throughput": 20.0}]
    assert verdict({**facts, "bench.levels": few}) == "healthy"


def test_a_likely_fault_that_stays_open_forbids_healthy() -> None:
    likely = FakeCause("CP001", "metrics.itl_ms", prior=0.4, weights=(0.6, 0.3))
    known = Facts([Evidence("E1", "logs.decode", "server.log", {**AT_WORK, **CLEARED, "metrics.itl_ms": True})])

    board = compute_board(known, [*CAUSES, likely])

    assert board.of("CP001") is not None and board.of("CP001").state == "open"  # type: ignore[union-attr]
    assert verdict_of(board, known) == "not_enough_evidence"


def test_the_summary_of_a_diagnosis_names_what_was_seen_and_where() -> None:
    board, facts = board_of({"source.unfilled": True, "source.no_graphs": True})
    first = Proposal("P1", ("PP001",), "live", "", Change(), ("E1",))

    said = summary_of("diagnosed", board, facts, Plan((first,)), ())

    assert said == (
        "A fake cause (PP001): source.unfilled is True [E1]. Also a fake cause (CG001): source.no_graphs is True [E1]."
    )


def test_what_keeps_a_server_from_coming_up_is_told_first_whatever_the_plan_changes_first() -> None:
    causes = [FakeCause("LA003", "source.full", name="out of memory at load"), FakeCause("PP004", "source.uneven")]
    known = Facts([Evidence("E1", "logs.decode", "server.log", {"source.full": True, "source.uneven": True})])
    board = compute_board(known, causes)
    first = Proposal("P1", ("PP004",), "relaunch", "", Change(), ("E1",))

    assert [h.cause_id for h in in_plan_order(board.supported, Plan((first,)))] == ["LA003", "PP004"]


def test_a_diagnosis_that_proposes_no_change_says_so() -> None:
    board, facts = board_of({"source.unfilled": True})
    declined = Plan((), (Declined("--lever", "it gains nothing", ("E1",)),))

    assert summary_of("diagnosed", board, facts, declined, ()).endswith(
        "[E1]. No change is proposed. What might be tried is declined, with the reason."
    )
    assert summary_of("diagnosed", board, facts, Plan(), ()).endswith("[E1]. No change is proposed.")


def test_the_summary_of_a_healthy_server_says_what_shows_it_and_what_limits_it() -> None:
    board, facts = board_of({**AT_WORK, **CLEARED, "source.idle": True, "decode.throughput.p50": 312.4})

    said = summary_of("healthy", board, facts, Plan(), ())

    assert said == (
        "Nothing is wrong with the server: it generates 312.4 tok/s [E1]; source.unfilled is False [E1]; "
        "source.full is False [E1]; source.no_graphs is False [E1]. "
        "What limits it is no fault: offered load too low (LB001): source.idle is True [E1]."
    )


def test_what_explains_a_speed_and_is_no_fault_spares_the_look_at_the_stages() -> None:
    facts = {**AT_WORK, **CLEARED, "source.idle": True}
    del facts["gpu.power_w"]
    assert verdict(facts) == "healthy"
