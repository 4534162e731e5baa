import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.brains.llm.figures import made_up
from ppagent.evidence.evidence import Evidence

MEASURED = Evidence(
    "E1",
    "logs.decode",
    "server.log",
    {
        "decode.throughput.p50": 95.57,
        "decode.graph_true_share": 0.42,
        "decode.running_req_histogram": {"2": 14, "3": 10},
        "gpu.power_w": {"0": 172.4, "7": 198.1},
        "start.graph_sizes": [1, 2, 4],
        "stated.sentences": ["the link runs at gen 5, 1,024 tokens in 34.1 ms"],
        "engine.version": "0.5.11",
        "log.last_seen": {"PP7": "2026-05-02T14:25:50"},
    },
    "cuda graph: False, fp8, 8x RTX 6000",
)


@pytest.mark.parametrize(
    "says",
    [
        "it gives 95.57 tok/s",
        "it gives 95.6 tok/s, about 96 tokens/s",
        "42% of the steps, or 42 percent",
        "14 lines show two requests, one of them at forty-two percent",
        "cards draw 172 W to 198 watts",
        "three graph sizes were captured",
        "1,024 tokens take 34.1 ms",
        "version 0.5.11 on 8x RTX 6000 with fp8",
        "PP7 was silent last",
        "no figure at all",
        "E1 speaks for PP001, by its p95, with --cuda-graph-bs",
    ],
)
def test_figures_that_stand_in_the_evidence_pass_exactly_or_rounded(says: str) -> None:
    assert made_up(says, [MEASURED]) == []


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ("it gives 96.5 tok/s", ["96.5"]),
        ("43% of the steps", ["43%"]),
        ("ninety requests", ["ninety"]),
        ("fourteen percent of two", ["fourteen percent"]),
        ("twenty-four lines, thirty one cards", ["twenty-four", "thirty one"]),
        ("twice as fast, half the power", ["twice", "half"]),
        ("thousands of requests", ["thousands"]),
        ("PP6 was silent", ["PP6"]),
        ("version 0.5.12", ["0.5.12"]),
        ("with fp4", ["fp4"]),
        ("on an H100", ["H100"]),
        ("6 requests", ["6"]),
        ("９９ requests", ["99"]),
        ("1e6 tokens", ["1e6"]),
        ("setting --pp-size 16", ["16"]),
    ],
)
def test_figures_that_stand_nowhere_are_told(says: str, wrong: list[str]) -> None:
    assert made_up(says, [MEASURED]) == wrong


@pytest.mark.parametrize(
    "says", ["it loses 1,024 tok/s", "it draws 14 W", "it took 172 ms", "it holds 95.57 GiB", "it runs at 42 MHz"]
)
def test_a_figure_with_another_unit_than_in_the_evidence_is_made_up(says: str) -> None:
    assert len(made_up(says, [MEASURED])) == 1


def test_a_share_is_not_rounded_to_nought() -> None:
    assert made_up("0 requests wait", [Evidence("E1", "t", "a", {"decode.queue_share": 0.3})]) == ["0"]


def test_figures_of_evidence_that_is_not_cited_do_not_count() -> None:
    assert made_up("it gives 95.57 tok/s", []) == ["95.57"]


def test_the_figures_of_a_change_may_be_named() -> None:
    assert made_up("set it to 7", [MEASURED], also=[7.0]) == []


@given(st.floats(min_value=0.001, max_value=1e9, allow_nan=False), st.integers(0, 3))
def test_a_number_rounded_by_less_than_a_twentieth_is_always_known_again(value: float, decimals: int) -> None:
    written = f"{value:.{decimals}f}"
    if abs(float(written) - value) <= 0.04 * value:
        assert made_up(f"it was {written} then", [Evidence("E1", "t", "a", {"x": value})]) == []


@given(st.text(max_size=200))
def test_any_text_can_be_looked_through(says: str) -> None:
    assert isinstance(made_up(says, [MEASURED]), list)
