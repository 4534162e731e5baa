"""The report as JSON: an investigation in the form of the contract."""

import json
import math
from typing import Any

from ppagent.agent.board import Hypothesis
from ppagent.agent.contribution import OTHER, UNPROVEN, Contribution, Outcome, OwnHypothesis
from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Observation
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.quoting import without_controls
from ppagent.report.contract import (
    ChangePart,
    Contract,
    CostPart,
    DeniedPart,
    ElsewherePart,
    EvidencePart,
    HypothesisPart,
    MissingPart,
    ModelPart,
    PredictedPart,
    ProbePart,
    ProposalPart,
    ReasonPart,
    RemarkPart,
    TargetPart,
    WaterfallPart,
)


def contract_of(found: Investigation) -> Contract:
    """The result of an investigation as the document."""
    return Contract(
        session=found.session,
        target=TargetPart(kind=found.target_kind, name=found.target_name),
        brain=found.brain,
        verdict=found.verdict,
        summary=found.summary,
        hypotheses=(
            *(_hypothesis(h) for h in found.board.hypotheses),
            *(_own_hypothesis(h) for h in found.contribution.hypotheses),
        ),
        evidence=tuple(_evidence(e) for e in found.evidence),
        proposals=tuple(_proposal(p) for p in found.plan.proposals),
        waterfall=tuple(WaterfallPart(step=s.step, value=s.value, unit=s.unit) for s in found.plan.waterfall),
        next_probes=tuple(ProbePart(tool=p.tool, why=p.why, grade=p.grade) for p in found.next_probes),
        denied=tuple(DeniedPart(**row) for row in found.denied),
        missing=tuple(MissingPart(tool=m.tool, why=m.why) for m in found.missing),
        model=_model(found.contribution),
        cost=CostPart(
            seconds=round(found.cost.seconds, 3),
            steps=found.cost.steps,
            tool_calls=dict(found.cost.tool_calls),
            tokens=found.cost.tokens,
            usd=found.cost.usd,
        ),
    )


def as_json(found: Investigation) -> str:
    """The document as indented JSON with a newline at its end, fit for UTF-8 and for a terminal it is printed on:
    a number that is none becomes null, control characters and bidi marks are left out of every text."""
    document = contract_of(found).model_dump()
    if document["model"] is None:
        del document["model"]
    return json.dumps(_printable(document), indent=2, ensure_ascii=False) + "\n"


def _printable(value: Any) -> Any:
    """`value` with null for every number that JSON cannot hold, and text that cannot steer a terminal."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case str():
            return without_controls(value)
        case dict():
            return {_printable(key): _printable(item) for key, item in value.items()}
        case list() | tuple():
            return [_printable(item) for item in value]
        case _:
            return value


def _hypothesis(hypothesis: Hypothesis) -> HypothesisPart:
    judgement = hypothesis.judgement
    return HypothesisPart(
        id=hypothesis.id,
        cause=hypothesis.cause_id,
        name=judgement.cause.name,
        state=judgement.state,
        confidence=round(judgement.confidence, 4),
        because=_reasons(judgement.because),
        against=_reasons(judgement.against),
    )


def _own_hypothesis(own: OwnHypothesis) -> HypothesisPart:
    """A model's hypothesis. Its reasons are its predictions, in words made by code."""

    def told(outcome: Outcome) -> tuple[ReasonPart, ...]:
        return tuple(
            ReasonPart(evidence=e, says=p.says) for p in own.predictions if p.outcome == outcome for e in p.cites
        )

    return HypothesisPart(
        id=own.id,
        cause=OTHER,
        name=f"{UNPROVEN}: {own.says}",
        state=own.state,
        confidence=round(own.confidence, 4),
        because=told("holds"),
        against=told("fails"),
    )


def _model(added: Contribution) -> ModelPart | None:
    if not added.model and not added.notes:
        return None
    remarks = tuple(RemarkPart(about=r.about, stance=r.stance, says=r.says, evidence=r.cites) for r in added.remarks)
    return ModelPart(name=added.model, remarks=remarks, struck=added.struck, notes=added.notes)


def _reasons(observations: tuple[Observation, ...]) -> tuple[ReasonPart, ...]:
    """One row for each piece of evidence that an observation rests on."""
    return tuple(ReasonPart(evidence=e, says=o.says) for o in observations for e in o.cites)


def _evidence(evidence: Evidence) -> EvidencePart:
    return EvidencePart(
        id=evidence.id,
        tool=evidence.tool,
        artifact=evidence.artifact,
        host=evidence.host,
        at=evidence.at,
        facts=dict(evidence.facts),
        excerpt=evidence.excerpt,
    )


def _proposal(proposal: Proposal) -> ProposalPart:
    change = proposal.change
    return ProposalPart(
        id=proposal.id,
        causes=proposal.causes,
        kind=proposal.kind,
        change=ChangePart(set=dict(change.set), unset=change.unset, env=dict(change.env)),
        command=proposal.command,
        diff=proposal.diff,
        predicted=_predicted(proposal.predicted),
        unpredicted=proposal.unpredicted,
        risks=proposal.risks,
        verify=proposal.verify,
        rollback=proposal.rollback,
        host=proposal.host,
        elsewhere=tuple(ElsewherePart(host=each.host, command=each.command) for each in proposal.elsewhere),
    )


def _predicted(predicted: Predicted | None) -> PredictedPart | None:
    if predicted is None:
        return None
    return PredictedPart(
        metric=predicted.metric,
        at={"max_concurrency": predicted.at_concurrency},
        baseline=predicted.baseline,
        low=predicted.low,
        high=predicted.high,
    )
