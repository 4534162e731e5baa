"""The server that a recording is of, as an investigation finds it: `predict` forecasts what `diagnose` proposes."""

from ppagent.agent.investigation import investigate
from ppagent.agent.toolbox import open_toolbox
from ppagent.brains.brain import brain_of
from ppagent.causes.situation import stages
from ppagent.changes.forecasts import server_of
from ppagent.changes.plan import make_plan
from ppagent.errors import ExitStatus, NotRecorded, ToolError, UserError
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.model.whatif import Server
from ppagent.plugins import ToolContext, discover
from ppagent.targets.open import open_target

ADVICE = "Give --stages for a ring by numbers."


def found_facts(text: str) -> Facts:
    """What an investigation of the recording in the folder `text` finds, as `diagnose` makes it."""
    return investigate(open_target(text), discover(), brain=brain_of("rules"), planner=make_plan).facts


def all_facts(text: str) -> tuple[Facts, tuple[str, ...]]:
    """Everything that the built-in tools find in the recording, needed for a diagnosis or not, and what is broken."""
    target, ledger, broken = open_target(text), Ledger(), []
    context = ToolContext(target)
    for offer in open_toolbox(discover(), target.kind):
        if not offer.built_in or not offer.takes_no_arguments:
            continue
        try:
            findings = offer.tool.run(context, offer.tool.arguments())
        except NotRecorded:
            continue
        except ToolError as error:
            broken.append(str(error))
            continue
        for finding in findings:
            ledger.add(offer.name, finding)
    return ledger.facts(), tuple(broken)


def server_in(facts: Facts, broken: tuple[str, ...] = ()) -> Server:
    """The server that the facts are of. Raises UserError where its levels, its launch or a pipeline are lacking."""
    asked = facts.arg("pp_size")
    if asked is not None and (asked.number is None or asked.number != int(asked.number)):
        raise UserError(f"pp_size in the launch command is no whole number: {asked.value!r}.", "Correct it.")
    ring = stages(facts)
    if ring is None:
        raise UserError("No launch command was recorded.", f"Add launch.txt. {ADVICE}")
    if ring.value < 2:
        raise UserError("There is one pipeline stage only, and the model prices nothing else.", ADVICE)
    server = server_of(facts)
    if server is None:
        advice = f"Add a bench.jsonl with two or three concurrencies. {ADVICE}"
        said = f": {broken[0]}" if broken else ""
        raise UserError(f"No load level was recorded{said}.", advice, ExitStatus.NOT_ENOUGH_EVIDENCE)
    return server
