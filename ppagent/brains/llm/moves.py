"""What the model may do besides asking tools with arguments: each move is a function, its docstring what is told."""

from typing import Literal

from pydantic import BaseModel, Field

from ppagent.brains.llm.model import Function
from ppagent.brains.llm.predictions import Comparison
from ppagent.brains.llm.schema import function_of

Ids = list[str]


class Look(BaseModel, extra="forbid"):
    """Ask tools that need no argument, several at once. Their answers become evidence."""

    tools: list[str] = Field(min_length=1)
    why: str = Field(default="", description="one clause")


class ReadEvidence(BaseModel, extra="forbid"):
    """The lines of one piece of evidence: all its facts and its quote."""

    id: str
    start: int = Field(default=1, ge=1)
    lines: int = Field(default=40, ge=1, le=200)


class Expected(BaseModel, extra="forbid"):
    fact: str
    comparison: Comparison
    value: str | float | bool


class Hypothesise(BaseModel, extra="forbid"):
    """A cause that the board does not list. Code looks up each prediction."""

    says: str
    evidence: Ids
    predictions: list[Expected] = Field(min_length=1, max_length=8)


class Argue(BaseModel, extra="forbid"):
    """One sentence for or against a cause of the board, with the evidence that shows it."""

    cause: str
    stance: Literal["for", "against"]
    says: str
    evidence: Ids


class Setting(BaseModel, extra="forbid"):
    flag: str
    value: str = "true"


class Variable(BaseModel, extra="forbid"):
    name: str
    value: str


class Propose(BaseModel, extra="forbid"):
    """A change of the launch that would test your hypothesis (M1) or cure a supported cause."""

    about: str
    says: str
    evidence: Ids
    set: list[Setting] = Field(default_factory=list)
    unset: list[str] = Field(default_factory=list)
    env: list[Variable] = Field(default_factory=list)


class Finish(BaseModel, extra="forbid"):
    """You have seen enough: a closing sentence or two, with their evidence."""

    says: str = ""
    evidence: Ids = Field(default_factory=list)


Move = Look | ReadEvidence | Hypothesise | Argue | Propose | Finish

MOVES: dict[str, type[Move]] = {
    "look": Look,
    "read_evidence": ReadEvidence,
    "hypothesise": Hypothesise,
    "argue": Argue,
    "propose": Propose,
    "finish": Finish,
}


def move_functions() -> tuple[Function, ...]:
    """The moves as the model sees them."""
    return tuple(function_of(name, arguments.__doc__ or "", arguments) for name, arguments in MOVES.items())
