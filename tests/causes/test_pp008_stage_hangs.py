"""PP008: the stage that stopped, and the one that only waited for it."""

from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.causes.pp008_stage_hangs import waiting_ranks, went_silent
from ppagent.evidence.evidence import FactValue

PP008 = cause_of("PP008")

HUNG: dict[str, FactValue] = {
    "args.pp_size": 4,
    "start.ready": True,
    "log.lines": 900,
    "decode.lines": 200,
    "trouble.watchdog_timeout": 1,
    "trouble.watchdog_timeout.ranks": "PP3",
    "log.last_seen": {
        "PP0": "2026-03-01T10:05:02",
        "PP1": "2026-03-01T10:05:02",
        "PP2": "2026-03-01T10:00:01",
        "PP3": "2026-03-01T10:05:03",
    },
}


def test_the_stage_that_fell_silent_first_is_named_and_not_the_one_that_waited() -> None:
    judgement = judged(PP008, HUNG)
    assert judgement.state == "supported"
    assert "PP2 fell silent first (2026-03-01T10:00:01)" in judgement.because[0].says
    advice = PP008.advise(facts_of(HUNG))
    assert advice.remedies[0].title.startswith("Look at PP2:")
    assert {d.lever for d in advice.declined} == {"--watchdog-timeout", "a search on PP3"}


def test_without_times_the_neighbour_before_the_waiting_stage_is_suspected() -> None:
    values = {k: v for k, v in HUNG.items() if k != "log.last_seen"} | {"trouble.watchdog_timeout.ranks": "PP0"}
    assert "Look at PP3, the neighbour" in PP008.advise(facts_of(values)).remedies[0].title
    assert any("fell silent first" in probe.why for probe in judged(PP008, values).probes)


def test_the_rank_the_log_names_as_silent_counts_before_any_reckoning() -> None:
    silent = went_silent(facts_of(HUNG | {"log.silent_rank": "PP1"}))
    assert silent is not None and silent[0] == "PP1"
    assert waiting_ranks(facts_of(HUNG)) == ("PP3",)


def test_a_log_that_goes_on_has_no_hung_stage() -> None:
    calm = {"args.pp_size": 4, "log.lines": 900, "decode.lines": 200}
    assert judged(PP008, calm).state == "refuted"


def test_batch_lines_that_end_in_the_middle_of_work_keep_it_alive() -> None:
    ended = {"args.pp_size": 4, "log.lines": 900, "decode.lines": 200, "log.ended_running": True}
    assert judged(PP008, ended).state not in ("refuted", "supported")
    assert judged(PP008, ended | {"log.silent_rank": "PP2"}).state == "supported"


def test_one_stage_that_times_out_is_no_pipeline_fault() -> None:
    assert judged(PP008, HUNG | {"args.pp_size": 1}).state == "refuted"


def test_a_time_out_before_the_server_is_up_points_elsewhere() -> None:
    early = {
        "args.pp_size": 2,
        "start.ready": False,
        "log.lines": 40,
        "trouble.nccl_timeout": 2,
    }
    assert judged(PP008, early).state != "supported"


def test_a_soft_watchdog_alone_is_not_proof() -> None:
    soft = {"args.pp_size": 4, "start.ready": True, "log.lines": 900, "trouble.soft_watchdog": 1}
    assert judged(PP008, soft).state != "supported"


def test_without_a_log_the_probe_asks_for_it() -> None:
    judgement = judged(PP008, {"args.pp_size": 4})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.trouble"


def test_the_only_stage_that_reported_no_time_out_is_the_one_that_stopped() -> None:
    at = "2026-11-30T00:07:49"
    stopped = HUNG | {
        "trouble.watchdog_timeout.ranks": ["PP0", "PP2", "PP3"],
        "log.last_seen": {f"PP{n}": at for n in range(4)},
    }
    judgement = judged(PP008, stopped)
    assert "on PP0, PP2, PP3, which waited; PP1 alone reported no time-out" in judgement.because[0].says
    assert len(set(judgement.because[0].cites)) == len(judgement.because[0].cites)
    advice = PP008.advise(facts_of(stopped))
    assert advice.remedies[0].title.startswith("Look at PP1:")
    assert "a search on PP0, PP2, PP3" in {d.lever for d in advice.declined}


def test_where_all_stages_report_a_time_out_none_is_suspected_by_its_place() -> None:
    values = {k: v for k, v in HUNG.items() if k != "log.last_seen"}
    everybody = values | {"trouble.watchdog_timeout.ranks": [f"PP{n}" for n in range(4)]}
    assert "the stage whose lines end first" in PP008.advise(facts_of(everybody)).remedies[0].title
