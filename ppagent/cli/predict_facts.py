"""Everything a recording says, so that `predict` forecasts what `diagnose` proposes."""

from ppagent.agent.toolbox import open_toolbox
from ppagent.errors import ToolError
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.plugins import ToolContext, discover
from ppagent.targets.open import open_target


def read_facts(text: str) -> Facts:
    """The facts that the built-in tools find in the recording `text`; a tool without an answer adds none."""
    target = open_target(text)
    context, ledger = ToolContext(target), Ledger()
    for offer in open_toolbox(discover(), target.kind):
        if not offer.built_in or not offer.takes_no_arguments:
            continue
        try:
            findings = offer.tool.run(context, offer.tool.arguments())
        except ToolError:
            continue
        for finding in findings:
            ledger.add(offer.name, finding)
    return ledger.facts()
