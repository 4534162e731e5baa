"""Which traces belong together, and which stage each is of."""

from trace_samples import event, summary

from ppagent.profile.choice import File, Shape, choose, place
from ppagent.profile.rank import RankSummary
from ppagent.sglang.profiling import parse_trace_name

LATE, EARLY = "1790857026.5", "1790000000.25"


def names(*files: File) -> list[str]:
    return [file.name for file in files]


def traced(name: str, rank: int | None = None, world: int | None = None) -> tuple[File, RankSummary]:
    known = parse_trace_name(name)
    assert known is not None
    header = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": world}}
    return File("box", f"traces/{name}", known), summary(event("kernel", "gemm", 0, 1), **header)


def test_the_latest_profile_counts_over_all_hosts() -> None:
    found = choose([("a", f"traces/{EARLY}-TP-0-PP-0.trace.json.gz"), ("a", f"traces/{LATE}-TP-0-PP-0.trace.json.gz"),
                    ("b", f"traces/{LATE}-TP-0-PP-1.trace.json.gz")])  # fmt: skip
    assert [(file.host, file.known.pp) for file in found.files] == [("a", 0), ("b", 1)]
    assert found.remarks == ("traces of 1 earlier profile are left out",)


def test_of_a_profile_by_phase_decoding_counts() -> None:
    found = choose([("a", f"traces/{LATE}-TP-0-{phase}.trace.json.gz") for phase in ("EXTEND", "DECODE")])
    assert names(*found.files) == [f"traces/{LATE}-TP-0-DECODE.trace.json.gz"]


def test_many_files_that_are_no_ranks_are_named_by_their_number() -> None:
    found = choose([("a", f"traces/merged-{number}.trace.json.gz") for number in range(9)])
    assert found.files == () and found.remarks[-1] == "so are 5 more"


def test_stages_are_told_by_name_and_missing_ones_are_listed() -> None:
    found = place([traced(f"{LATE}-TP-{tp}-PP-2.trace.json.gz") for tp in (0, 1)], Shape(4, 2))
    assert [stage for stage, _ in found.ranks] == [2, 2]
    assert (found.missing, found.overwritten) == ((0, 1, 3), False)


def test_without_stages_in_the_names_the_process_group_tells_which_is_left() -> None:
    found = place([traced(f"{LATE}-TP-{tp}.trace.json.gz", rank=6 + tp, world=8) for tp in (0, 1)], Shape())
    assert [stage for stage, _ in found.ranks] == [3, 3]
    assert (found.missing, found.overwritten) == ((0, 1, 2), True)


def test_a_single_stage_needs_no_name() -> None:
    for shape in (Shape(), Shape(1, 2)):
        found = place([traced(f"{LATE}-TP-{tp}.trace.json.gz", rank=tp, world=2) for tp in (0, 1)], shape)
        assert ([stage for stage, _ in found.ranks], found.missing, found.overwritten) == ([0, 0], (), False)


def test_a_rank_that_fits_no_stage_is_put_into_the_last() -> None:
    found = place([traced(f"{LATE}-TP-0.trace.json.gz", rank=900, world=2)], Shape(2, 1))
    assert [stage for stage, _ in found.ranks] == [1]
