"""The brains by name."""

from ppagent.agent.choosing import Brain
from ppagent.brains.rules import RulesBrain
from ppagent.errors import UserError

BRAINS = ("auto", "rules", "llm")


def brain_of(name: str) -> Brain:
    """The brain of that name; "auto" takes the best that needs no set-up. Raises UserError where there is none."""
    match name:
        case "auto" | "rules":
            return RulesBrain()
        case "llm":
            raise UserError("The llm brain isn't available in this version.", "Use --brain rules.")
        case _:
            raise UserError(f"There is no brain {name!r}.", f"Take one of {', '.join(BRAINS)}.")
