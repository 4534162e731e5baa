"""The brain without a model: asks the tool whose answer can move the board most per grade."""

from ppagent.agent.board import Hypothesis
from ppagent.agent.choosing import Stop, ToolCall, Usage, View
from ppagent.agent.probes import GRADE_COST, uncertainty
from ppagent.agent.toolbox import Offer
from ppagent.evidence.facts import Facts

SETTLED_BELOW = 0.05
SETTLED_ABOVE = 0.95
"""Between these a decided cause can still be turned by one strong observation, so it is looked at again."""


class RulesBrain:
    """Deterministic: the same view always leads to the same question."""

    name = "rules"

    def choose(self, view: View) -> ToolCall | Stop:
        ranked: list[tuple[bool, float, str, tuple[str, ...]]] = []
        for offer in view.unasked():
            worth, causes = gain(offer, view.board.hypotheses, view.facts)
            if worth > 0 and _within_reach(offer, view):
                ranked.append((offer.grade > view.ceiling, -worth, offer.name, causes))
        if not ranked:
            return Stop("no tool can move the board any more")
        _, _, name, causes = min(ranked)
        return ToolCall(name, f"it may decide {' '.join(causes)}")

    def usage(self) -> Usage:
        return Usage()


def gain(offer: Offer, hypotheses: tuple[Hypothesis, ...], facts: Facts) -> tuple[float, tuple[str, ...]]:
    """Bits of uncertainty per cost of grade that `offer` could remove, and up to three causes it bears on, most
    uncertain first."""
    bits = {
        h.cause_id: uncertainty(h.judgement.posterior)
        for h in hypotheses
        if _unsettled(h) and any(want not in facts and offer.may_tell(want) for want in h.judgement.cause.wants)
    }
    telling = sorted(bits, key=lambda cause: (-bits[cause], cause))
    return sum(bits.values()) / GRADE_COST[offer.grade], tuple(telling[:3])


def _unsettled(hypothesis: Hypothesis) -> bool:
    if hypothesis.state in ("open", "cannot_tell"):
        return True
    return SETTLED_BELOW < hypothesis.judgement.posterior < SETTLED_ABOVE


def _within_reach(offer: Offer, view: View) -> bool:
    """Nobody is asked to allow a tool above the ceiling once the verdict stands."""
    return offer.grade <= view.ceiling or view.verdict == "not_enough_evidence"
