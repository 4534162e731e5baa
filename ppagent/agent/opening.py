"""The first questions, before any brain has a say: what runs here, how it was launched, what the user wants."""

from ppagent.agent.choosing import ToolCall, View
from ppagent.agent.toolbox import Offer

OPENING_FACTS = (
    "stated.question",
    "engine.version",
    "source.flags",
    "launch.command",
    "args.pp_size",
    "model.num_hidden_layers",
)
"""Every report, proposal and cause leans on these, whatever is wrong."""

STATED = 1
"""Authority of what somebody stated: it does not spare looking, as long as a better witness can be asked."""


def opening_call(view: View) -> ToolCall | None:
    """The cheapest unasked tool that may tell an opening fact which nobody has witnessed yet; None for none."""
    unasked = [offer for offer in view.unasked() if offer.grade <= view.ceiling]
    for fact in OPENING_FACTS:
        known = view.facts.get(fact)
        if known is not None and known.authority > STATED:
            continue
        able = [offer for offer in unasked if offer.may_tell(fact)]
        if able:
            first = min(able, key=lambda offer: offer.grade)
            return ToolCall(first.name, f"to know {fact}", _arguments(first, view))
    return None


def _arguments(offer: Offer, view: View) -> dict[str, str]:
    """The user's words, for a tool that reads them."""
    takes_question = "question" in offer.tool.arguments.model_fields
    return {"question": view.question} if takes_question and view.question else {}
