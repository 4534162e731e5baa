"""The last question, once the verdict stands: does the live change that is proposed do what it is forecast to do?

Asked only where the ceiling allows the trial by itself: nobody who was not told of it is asked to agree to one.
"""

from typing import Any

from ppagent.agent.choosing import ToolCall, View
from ppagent.agent.desk import Desk
from ppagent.causes.trials import SLOT_LIMIT_FLAGS
from ppagent.changes.proposal import Proposal
from ppagent.evidence.facts import Facts

TOOL = "tune.set_limit"
THROUGHPUT = "output_throughput"
ANSWER_S = 6.0
"""How long an answer of the trial should take: requests have to turn over more than once for each measurement."""
FEWEST_TOKENS, MOST_TOKENS = 8, 96


def trying_call(desk: Desk, view: View) -> ToolCall | None:
    """The trial of the first live proposal; None where there is none, it may not be tried, or was tried already."""
    offer = desk.toolbox.find(TOOL)
    if offer is None or offer.grade > view.ceiling or "trial.comparisons" in view.facts:
        return None
    plan = desk.planner([hypothesis.judgement for hypothesis in view.board.supported], view.facts)
    for proposal in plan.proposals:
        call = _call(proposal, view.facts)
        if call is not None and call.key not in view.asked:
            return call
    return None


def _call(proposal: Proposal, facts: Facts) -> ToolCall | None:
    limits = [value for flag, value in proposal.change.set.items() if flag in SLOT_LIMIT_FLAGS]
    if proposal.kind != "live" or not limits or not limits[0].isdecimal():
        return None
    arguments: dict[str, Any] = {"limit": int(limits[0]), **_lengths(facts)}
    if proposal.predicted is not None:
        made = proposal.predicted
        arguments["concurrency"] = int(made.at_concurrency)
        if made.metric == THROUGHPUT and made.baseline > 0 and made.high > 0:
            arguments["predicted"] = {"baseline": made.baseline, "low": made.low, "high": made.high}
    return ToolCall(TOOL, f"{proposal.id} proposes it against {' '.join(proposal.causes)}", arguments)


def _lengths(facts: Facts) -> dict[str, Any]:
    """Answers short enough for the speed that was measured; the tool's own where none was."""
    rows = [row for row in facts.items("bench.levels") if isinstance(row, dict)]
    known = [itl for row in rows if isinstance(itl := row.get("mean_itl_ms"), int | float) and itl > 0]
    if not known:
        return {}
    most = max(FEWEST_TOKENS, min(MOST_TOKENS, round(1000 * ANSWER_S / max(known))))
    return {"output_tokens": [most // 2, most]}
