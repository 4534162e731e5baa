from hypothesis import given
from hypothesis import strategies as st

from ppagent.agent.board import compute_board
from ppagent.agent.probes import next_probes, uncertainty
from ppagent.evidence.facts import Facts
from tests.agent.fakes import FakeCause


@given(st.floats(0, 1))
def test_uncertainty_is_between_nothing_and_one_bit_and_the_same_for_yes_and_no(probability: float) -> None:
    bits = uncertainty(probability)

    assert 0 <= bits <= uncertainty(0.5) == 1
    assert abs(bits - uncertainty(1 - probability)) < 1e-9


def test_a_cheap_probe_comes_before_a_perturbing_one_that_decides_more() -> None:
    causes = [
        FakeCause("AA001", "a", prior=0.1, tool="logs.decode", grade=0),
        FakeCause("BB001", "b", prior=0.5, tool="profile.trace", grade=3),
    ]

    assert [p.tool for p in next_probes(compute_board(Facts(), causes))] == ["logs.decode", "profile.trace"]


def test_a_tool_is_named_once_with_the_reason_that_matters_most() -> None:
    causes = [FakeCause("AA001", "a", prior=0.1), FakeCause("BB001", "b", prior=0.5), FakeCause("CC001", "c")]

    probes = next_probes(compute_board(Facts(), causes))

    assert [(p.tool, p.why) for p in probes] == [("fake.probe", "b is not known")]
