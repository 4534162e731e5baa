"""The JSON document of `ppagent diagnose --format json`. Scripts build on it: a name here is never changed."""

import json
import math
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ppagent.agent.board import Hypothesis, Verdict
from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Observation, RemedyKind
from ppagent.causes.judge import State
from ppagent.changes.proposal import Predicted, Proposal
from ppagent.evidence.evidence import Evidence

SCHEMA_VERSION: Literal[1] = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TargetPart(_Part):
    kind: str
    name: str


class ReasonPart(_Part):
    evidence: str
    says: str


class HypothesisPart(_Part):
    id: str
    cause: str
    name: str
    state: State
    confidence: float
    because: tuple[ReasonPart, ...]
    against: tuple[ReasonPart, ...]


class EvidencePart(_Part):
    id: str
    tool: str
    artifact: str
    host: str
    at: str
    facts: dict[str, Any]
    excerpt: str


class ChangePart(_Part):
    set: dict[str, str]
    unset: tuple[str, ...]
    env: dict[str, str]


class PredictedPart(_Part):
    metric: str
    at: dict[str, float]
    baseline: float
    low: float
    high: float


class ProposalPart(_Part):
    id: str
    causes: tuple[str, ...]
    kind: RemedyKind
    change: ChangePart
    command: str
    diff: str
    predicted: PredictedPart | None
    risks: tuple[str, ...]
    verify: str
    rollback: str


class WaterfallPart(_Part):
    step: str
    value: float
    unit: str


class ProbePart(_Part):
    tool: str
    why: str
    grade: int


class DeniedPart(_Part):
    tool: str
    grade: int
    why: str


class CostPart(_Part):
    seconds: float
    steps: int
    tool_calls: dict[str, int]
    tokens: int
    usd: float


class Contract(_Part):
    """The whole document."""

    schema_version: Literal[1] = SCHEMA_VERSION
    session: str
    target: TargetPart
    brain: str
    verdict: Verdict
    summary: str
    hypotheses: tuple[HypothesisPart, ...]
    evidence: tuple[EvidencePart, ...]
    proposals: tuple[ProposalPart, ...]
    waterfall: tuple[WaterfallPart, ...]
    next_probes: tuple[ProbePart, ...]
    denied: tuple[DeniedPart, ...]
    cost: CostPart


def contract_of(found: Investigation) -> Contract:
    """The result of an investigation as the document."""
    return Contract(
        session=found.session,
        target=TargetPart(kind=found.target_kind, name=found.target_name),
        brain=found.brain,
        verdict=found.verdict,
        summary=found.summary,
        hypotheses=tuple(_hypothesis(h) for h in found.board.hypotheses),
        evidence=tuple(_evidence(e) for e in found.evidence),
        proposals=tuple(_proposal(p) for p in found.plan.proposals),
        waterfall=tuple(WaterfallPart(step=s.step, value=s.value, unit=s.unit) for s in found.waterfall),
        next_probes=tuple(ProbePart(tool=p.tool, why=p.why, grade=p.grade) for p in found.next_probes),
        denied=tuple(DeniedPart(**row) for row in found.denied),
        cost=CostPart(
            seconds=round(found.cost.seconds, 3),
            steps=found.cost.steps,
            tool_calls=dict(found.cost.tool_calls),
            tokens=found.cost.tokens,
            usd=found.cost.usd,
        ),
    )


def as_json(found: Investigation) -> str:
    """The document as indented JSON with a newline at its end. Half of a surrogate pair, which a server's JSON may
    hold and UTF-8 may not, stays the escape that it was; a number that is none becomes null."""
    text = json.dumps(_finite(contract_of(found).model_dump()), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def _finite(value: Any) -> Any:
    """`value` with null for every number that JSON cannot hold."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
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
        risks=proposal.risks,
        verify=proposal.verify,
        rollback=proposal.rollback,
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
