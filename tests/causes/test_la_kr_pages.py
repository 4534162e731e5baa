"""What every cause about links, cards, kernels, launches and transfers keeps to."""

import pytest

from ppagent.causes.catalog import all_causes, page
from ppagent.causes.cause import Cause
from ppagent.evidence.facts import Facts
from ppagent.evidence.vocabulary import known

FAMILIES = ("IC", "HW", "KR", "LA", "PD")
OWN = [c for c in all_causes() if c.id.startswith(FAMILIES) or c.id in ("PP005", "PP006", "PP008", "PP009")]
HEADINGS = ("What it is", "Why it matters", "Signals", "What refutes it", "Remedies")


@pytest.mark.parametrize("cause", OWN, ids=lambda cause: cause.id)
def test_a_page_has_its_title_and_its_headings_in_order(cause: Cause) -> None:
    lines = page(cause).splitlines()
    assert lines[0] == f"{cause.id} {cause.name}"
    assert [line for line in lines if line in HEADINGS] == list(HEADINGS)


@pytest.mark.parametrize("cause", OWN, ids=lambda cause: cause.id)
def test_what_a_cause_wants_is_in_the_vocabulary(cause: Cause) -> None:
    assert cause.wants and not [name for name in cause.wants if not known(name)]
    assert 0 < cause.prior <= 0.1


@pytest.mark.parametrize("cause", OWN, ids=lambda cause: cause.id)
def test_without_any_fact_a_cause_claims_nothing_and_asks(cause: Cause) -> None:
    assert cause.observe(Facts()) == ()
    assert cause.probes(Facts())


def test_all_of_the_closed_list_s_families_are_there() -> None:
    assert [c.id for c in OWN] == [
        *(f"HW00{n}" for n in range(1, 5)),
        *(f"IC00{n}" for n in range(1, 7)),
        *(f"KR00{n}" for n in range(1, 4)),
        *(f"LA00{n}" for n in range(1, 5)),
        "PD001",
        "PP005",
        "PP006",
        "PP008",
        "PP009",
    ]
