"""What one SGLang version's scheduler does with a pipeline, each statement with the place it was read."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

T = TypeVar("T")
Origin = Literal["tree", "table by version"]
SlotRule = Literal["pp_size", "pp_size + pp_async_batch_depth"]
SplitRule = Literal["remainder on the last stage", "one more on the last stages"]
LIMIT_RULE = "max(max_running_requests // pp_size, 1)"


@dataclass(frozen=True)
class SourceFact(Generic[T]):
    """A value and where it stands in SGLang. `file` is relative to the package; `line` is known for a tree only."""

    value: T
    file: str
    function: str
    line: int | None
    origin: Origin
    note: str = ""
    """Why the table answers although a tree was given, or what an unknown version was taken for."""

    @property
    def source(self) -> str:
        """The place in words, for a citation."""
        place = f"{self.file}: {self.function}" + (f", line {self.line}" if self.line else "")
        return place if self.origin == "tree" else f"{place} ({self.origin})"


@dataclass(frozen=True)
class SchedulerFacts:
    """Facts of one version. An empty `version` means that nobody knows it."""

    version: str
    slots: SourceFact[SlotRule]
    """How many micro-batch slots there are."""
    default_slot_limit: SourceFact[str]
    """Requests a slot takes when the limit is unset, as an expression of the resolved arguments: it divides by the
    stages, not by the slots."""
    has_async_depth: SourceFact[bool]
    """Whether --pp-async-batch-depth exists."""
    layer_split: SourceFact[SplitRule]
    live_keys: SourceFact[tuple[str, ...]]
    """What POST /set_internal_state takes."""
    live_answer_is_true: SourceFact[bool]
    """Whether its answer tells a refusal; up to 0.5.14 it always says true, so the value has to be read back."""
    slot_limit_key: SourceFact[str]
    """The server-args field of the slot limit, which is also its live key."""

    @property
    def slot_limit_flag(self) -> str:
        """The launch flag of the slot limit in this version."""
        return "--" + self.slot_limit_key.value.replace("_", "-")
