"""The known outcome of a recorded incident. Only the scorer opens it; a diagnosis never does."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, Field, ValidationError, field_validator

from ppagent.causes.catalog import all_causes
from ppagent.errors import UserError

LONGEST = 200_000
"""Characters. Nobody writes more, and the YAML reader is slow."""

Origin = Literal["measured", "reconstructed", "synthetic"]


class Fix(BaseModel, extra="forbid"):
    """One change that counts as a cure. Empty `set`, `unset` and `env` stand for an operator's action."""

    set: dict[str, str] = Field(default_factory=dict)
    unset: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)

    @field_validator("set", "env", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """YAML reads 1 and true as a number and a boolean; flags are compared as text."""
        if not isinstance(value, Mapping):
            return value
        return {str(k): str(v).lower() if isinstance(v, bool) else str(v) for k, v in value.items()}

    @property
    def by_operator(self) -> bool:
        return not (self.set or self.unset or self.env)


class ExpectedForecast(BaseModel, extra="forbid"):
    """Where a forecast should fall."""

    metric: str
    at: dict[str, float] = Field(default_factory=dict)
    low: float
    high: float


class Answer(BaseModel, extra="ignore"):
    """The recording format's `answer.yaml`."""

    schema_version: int = 1
    verdict: Literal["diagnosed", "healthy", "not_enough_evidence"]
    causes: list[str] = Field(default_factory=list)
    also_accepted: list[str] = Field(default_factory=list)
    must_not_support: list[str] = Field(default_factory=list)
    ruled_out: list[str] = Field(default_factory=list)
    fixes: list[Fix] = Field(default_factory=list)
    forbidden_changes: list[str] = Field(default_factory=list)
    evidence: list[str] = Field(default_factory=list)
    predicted: ExpectedForecast | None = None
    ref: str = ""
    note: str = ""


def unknown_causes(answer: Answer) -> tuple[str, ...]:
    """Ids that are not on the closed list of causes: nothing that a diagnosis says could ever match them."""
    named = {*answer.causes, *answer.also_accepted, *answer.must_not_support, *answer.ruled_out}
    return tuple(sorted(named - {cause.id for cause in all_causes()}))


def read_answer(recording: Path) -> Answer:
    """The answer beside a recording: `answer.yaml` in its folder, `<name>.answer.yaml` beside a single file.

    Raises UserError where it is missing or not in the format.
    """
    path = recording / "answer.yaml" if recording.is_dir() else recording.with_name(recording.name + ".answer.yaml")
    if not path.exists() and not recording.is_dir():
        path = recording.with_name(recording.stem + ".answer.yaml")
    if not path.exists():
        raise UserError(f"{recording} has no answer.", f"Write {path.name}, or leave the case out of the eval.")
    try:
        return Answer.model_validate(_read(path))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UserError(
            f"{path} is not a valid answer: {where}: {first['msg']}.", "See the recording format."
        ) from error


def _read(path: Path) -> object:
    """What a YAML file holds. Raises UserError where it is none, or means to grow without end."""
    advice = "See the recording format."
    try:
        text = path.read_text(encoding="utf-8-sig")
        if len(text) > LONGEST or any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise UserError(f"{path} is longer than {LONGEST} characters, or refers to itself (*name).", advice)
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{path} is no YAML: {first}.", advice) from error


def read_origin(recording: Path) -> Origin:
    """How far the figures can be trusted, by incident.yaml; synthetic where it does not say."""
    path = recording / "incident.yaml"
    if not path.is_file():
        return "synthetic"
    incident = _read(path)
    origin = incident.get("origin") if isinstance(incident, dict) else None
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind if kind in ("measured", "reconstructed") else "synthetic"
