"""What the brain asks of a model, whichever endpoint serves it: messages and functions in, one reply out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ppagent.errors import PpagentError

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Called:
    """One call that the model made, its arguments as the JSON text that it wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message of the conversation."""

    role: Role
    text: str
    calls: tuple[Called, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """Of a tool's message: the call that it answers."""


@dataclass(frozen=True)
class Function:
    """Something the model may call."""

    name: str
    """Letters, digits, `_` and `-` only: so demands the wire."""
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON schema of its arguments, an object's."""
    strict: bool = False
    """Whether the schema keeps to what a server can enforce: every property required, none besides."""


@dataclass(frozen=True)
class Spent:
    """Tokens of one request, by the server's own count or by ours."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True)
class Reply:
    """What the model answered."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    reasoning: str = ""
    """Thoughts that the server or a `<think>` tag set apart: recorded, never sent back, never in a report."""
    spent: Spent = Spent()
    finish: str = "stop"


class ModelFailed(PpagentError):
    """No answer will come from this endpoint: one sentence of why, for the report."""


class ContextTooLong(ModelFailed):
    """The endpoint refused a request for its length; a shorter one may pass."""


class ChatModel(Protocol):
    """An endpoint with one model."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message], functions: Sequence[Function], *, seconds: float) -> Reply:
        """The reply to `messages`, within `seconds`. Raises ModelFailed where none will come."""
        ...
