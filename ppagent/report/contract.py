"""The JSON document of `ppagent diagnose --format json`. Scripts build on it: a name here is never changed."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ppagent.agent.board import Verdict
from ppagent.causes.cause import RemedyKind
from ppagent.causes.judge import State

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


class ElsewherePart(_Part):
    """The command of another node of the same deployment."""

    host: str
    command: str


class ProposalPart(_Part):
    id: str
    causes: tuple[str, ...]
    kind: RemedyKind
    change: ChangePart
    command: str
    diff: str
    predicted: PredictedPart | None
    unpredicted: str
    """Why `predicted` is null; else empty."""
    risks: tuple[str, ...]
    verify: str
    rollback: str
    host: str
    """Where to run `command`, in a deployment of several nodes; else empty."""
    elsewhere: tuple[ElsewherePart, ...]


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


class MissingPart(_Part):
    """A tool that was asked and had no answer, and why: not recorded, not readable, not there."""

    tool: str
    why: str


class RemarkPart(_Part):
    about: str
    """A cause, or empty for closing words."""
    stance: Literal["for", "against", "closing"]
    says: str
    evidence: tuple[str, ...]


class ModelPart(_Part):
    """What a model added. Its own hypotheses and proposals stand among the others, with the cause "other"."""

    name: str
    remarks: tuple[RemarkPart, ...]
    struck: int
    """Statements left out because the evidence does not hold them."""
    notes: tuple[str, ...]


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
    missing: tuple[MissingPart, ...]
    model: ModelPart | None
    """Left out of the document where no model was asked."""
    cost: CostPart
