"""The first and the last line of a session's record: what was to be done with what, and what came of it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ppagent import __version__
from ppagent.agent.desk import Desk
from ppagent.agent.toolbox import Offer
from ppagent.evidence.masking import mask
from ppagent.sessions import SCHEMA_VERSION

if TYPE_CHECKING:
    from ppagent.agent.investigation import Investigation


def head_of(desk: Desk, session: str) -> dict[str, Any]:
    """Target, brain, limits and tools."""
    target = desk.context.target
    return {
        "schema_version": SCHEMA_VERSION,
        "session": session,
        "ppagent": __version__,
        "target": {"kind": target.kind, "name": target.name, "hosts": list(target.hosts)},
        "brain": desk.brain.name,
        "question": mask(desk.question),
        "ceiling": int(desk.ceiling),
        "can_ask": desk.can_ask,
        "budget": asdict(desk.budget),
        "tools": [_tool(offer) for offer in desk.toolbox],
        "warnings": list(desk.toolbox.warnings),
    }


def tail_of(found: "Investigation") -> dict[str, Any]:
    """How it ended, and what it cost."""
    cost = found.cost
    return {
        "status": found.status,
        "stopped": found.stopped,
        "verdict": found.verdict,
        "summary": found.summary,
        "supported": [h.cause_id for h in found.board.supported],
        "struck": found.contribution.struck,
        "cost": {"seconds": round(cost.seconds, 3), "steps": cost.steps, "tokens": cost.tokens, "usd": cost.usd},
    }


def _tool(offer: Offer) -> dict[str, Any]:
    fields = offer.tool.arguments.model_fields
    return {
        "name": offer.name,
        "origin": offer.origin,
        "grade": int(offer.tool.grade),
        "summary": offer.tool.summary,
        "provides": list(offer.tool.provides),
        "required": [name for name, field in fields.items() if field.is_required()],
        "optional": [name for name, field in fields.items() if not field.is_required()],
    }
