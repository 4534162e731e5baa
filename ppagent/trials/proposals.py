"""Proposals out of a diagnosis: from its JSON document, or made anew on the live target."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ppagent.causes.cause import Change
from ppagent.errors import UserError
from ppagent.model.forecast import Forecast, forecast_from

if TYPE_CHECKING:
    from ppagent.changes.proposal import Proposal
    from ppagent.targets.target import Target

T = TypeVar("T")


@dataclass(frozen=True)
class Proposed:
    """What a trial needs of a proposal."""

    id: str
    kind: str
    causes: tuple[str, ...]
    change: Change
    risks: tuple[str, ...]
    predicted: Forecast | None
    unpredicted: str = ""
    """Why there is no forecast."""


def proposal_in(report: Path, wanted: str) -> Proposed:
    """Proposal `wanted` of a report. Raises UserError where there is no such report or proposal."""
    try:
        document = json.loads(report.read_text(encoding="utf-8"))
        rows = {str(row["id"]): _read(row) for row in document["proposals"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{report} is no report with proposals: {error}.", "Write one with `ppagent diagnose TARGET --format json`."
        ) from error
    return _chosen(rows, wanted)


def proposal_of(target: "Target", wanted: str) -> Proposed:
    """Proposal `wanted` of a diagnosis made now, with reading tools only."""
    from ppagent.agent.investigation import investigate
    from ppagent.brains.rules import RulesBrain
    from ppagent.changes.plan import make_plan
    from ppagent.plugins import discover

    found = investigate(target, discover(), brain=RulesBrain(), planner=make_plan)
    return proposed(_chosen({proposal.id: proposal for proposal in found.plan.proposals}, wanted))


def proposed(proposal: "Proposal") -> Proposed:
    """A proposal as a trial takes it."""
    predicted = proposal.predicted
    forecast = None
    if predicted is not None:
        at = int(predicted.at_concurrency)
        forecast = Forecast(predicted.metric, at, predicted.baseline, predicted.low, predicted.high, predicted.regime)
    return Proposed(
        proposal.id, proposal.kind, proposal.causes, proposal.change, proposal.risks, forecast, proposal.unpredicted
    )


def _chosen(rows: Mapping[str, T], wanted: str) -> T:
    if wanted not in rows:
        listed = f"It has {', '.join(rows)}." if rows else "It proposes nothing."
        raise UserError(f"The diagnosis has no proposal {wanted}.", listed)
    return rows[wanted]


def _read(row: Mapping[str, Any]) -> Proposed:
    change, predicted = row.get("change") or {}, row.get("predicted")
    return Proposed(
        id=str(row["id"]),
        kind=str(row.get("kind")),
        causes=tuple(row.get("causes", ())),
        change=Change(_texts(change.get("set", {})), tuple(change.get("unset", ())), _texts(change.get("env", {}))),
        risks=tuple(map(str, row.get("risks", ()))),
        predicted=forecast_from(predicted) if isinstance(predicted, dict) else None,
        unpredicted=str(row.get("unpredicted", "")),
    )


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}
