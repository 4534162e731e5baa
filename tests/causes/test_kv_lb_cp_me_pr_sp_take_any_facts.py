"""Facts come from logs and people: whatever is in them, a cause judges and never stumbles."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ppagent.causes.catalog import all_causes, page
from ppagent.causes.judge import judge
from ppagent.evidence.vocabulary import known
from tests.causes.builders import facts_of

FAMILIES = ("KV", "LB", "CP", "ME", "PR", "SP")
CAUSES = tuple(cause for cause in all_causes() if cause.id[:2] in FAMILIES)

NAMES = sorted(
    {name for cause in CAUSES for name in cause.wants}
    | {"internal.slot_limit", "decode.throughput.p95", "decode.throughput.max", "start.max_total_tokens"}
    | {"stated.levels", "stated.in_flight", "stated.utilization", "stated.power_w", "gpu.power_limit_w", "host.threads"}
    | {"trouble.cap_reduced.from", "trouble.cap_reduced.to", "start.graph_avail_gib", "gpu.memory_total_mib"}
    | {"args.pp_size", "args.tp_size", "args.mem_fraction_static", "start.context_len", "launch.command"}
)

NUMBERS = st.one_of(st.integers(-2, 5000), st.floats(-1, 1e6, allow_nan=False), st.booleans(), st.none(), st.just(0))
LEVELS = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["concurrency", "output_throughput", "mean_itl_ms", "mean_tpot_ms", "mean_ttft_ms", "input_len",
             "output_len", "achieved_concurrency", "streamed"]
        ),
        NUMBERS,
    ),
    max_size=3,
)  # fmt: skip
TABLES = st.dictionaries(
    st.sampled_from(["DP0", "DP1", "PP0", "low", "high", "0"]),
    st.one_of(NUMBERS, st.dictionaries(st.sampled_from(["running", "queue", "waiting", "cached_share"]), NUMBERS)),
)
WORDS = st.sampled_from(
    ["", "none", "EAGLE", "NEXTN", "0.5.9", "total_tokens", "powersave", "800 tok/s with a schema", "48", "TTFT 0 %"]
)
VALUES = st.one_of(NUMBERS, WORDS, st.lists(WORDS, max_size=2), TABLES, LEVELS)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=14))
def test_every_cause_judges_whatever_facts_there_are(values: dict[str, object]) -> None:
    facts = facts_of(values)  # type: ignore[arg-type]
    for cause in CAUSES:
        judgement = judge(cause, facts)
        assert 0 < judgement.confidence < 1
        assert all(o.cites and o.says for o in (*judgement.because, *judgement.against)), cause.id
        if judgement.state == "supported":
            assert all(remedy.cites and remedy.title for remedy in cause.advise(facts).remedies), cause.id


def test_every_wanted_fact_is_in_the_vocabulary() -> None:
    assert [name for cause in CAUSES for name in cause.wants if not known(name)] == []


def test_every_cause_of_these_families_is_there_and_has_its_page() -> None:
    assert [cause.id for cause in CAUSES] == [
        "CP001", "CP002", "CP003", "CP004", "KV001", "KV002", "KV003", "KV004", "KV005",
        "LB001", "LB002", "LB003", "ME001", "PR001", "SP001", "SP002", "SP003",
    ]  # fmt: skip
    for cause in CAUSES:
        assert page(cause).startswith(f"{cause.id} ")
        headings = [line for line in page(cause).splitlines()[1:] if line and not line.startswith(" ")]
        assert headings == ["What it is", "Why it matters", "Signals", "What refutes it", "Remedies"], cause.id


def test_nothing_seen_supports_or_refutes_nothing() -> None:
    for cause in CAUSES:
        judgement = judge(cause, facts_of({}))
        assert judgement.state == "cannot_tell", cause.id
