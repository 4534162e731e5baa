"""A diagnosis as the document that is scored."""

import json
import sys
from pathlib import Path

from ppagent_evals.scorer import Document


def diagnosed_by(name: str, model: str, base_url: str, recording: Path) -> Document:
    """A fresh investigation in this process."""
    from ppagent.agent.investigation import investigate
    from ppagent.brains.brain import brain_of
    from ppagent.changes.plan import make_plan
    from ppagent.plugins import discover
    from ppagent.report.json_report import as_json
    from ppagent.targets.open import open_target

    brain = brain_of(name, model=model, base_url=base_url)
    found = investigate(open_target(str(recording), sys.stdin), discover(), brain=brain, planner=make_plan)
    document = json.loads(as_json(found))
    computed = {h.cause_id: round(h.judgement.posterior, 6) for h in found.board.hypotheses}
    for hypothesis in document["hypotheses"]:
        if hypothesis["cause"] in computed:
            hypothesis["posterior"] = computed[hypothesis["cause"]]
    scored: Document = document
    return scored
