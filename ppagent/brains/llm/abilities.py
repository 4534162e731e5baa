"""What an endpoint can do, learned from what it refuses: each refusal takes away one feature, and the request is
made again without it."""

import re
from dataclasses import dataclass, replace

_SPEAKS_OF: tuple[tuple[str, str], ...] = (
    ("strict", r"\bstrict\b|additionalProperties|invalid schema for function"),
    ("parallel", r"parallel_tool_calls|single tool[- ]call|one tool[- ]call|multiple tool[- ]calls"),
    ("usage", r"stream_options|include_usage"),
    ("json_schema", r"response_format|json_schema|guided|grammar|structured output"),
    ("tools", r"\btools?\b|tool_choice|tool[- ]call|function[- ]call|--jinja"),
    ("stream", r"\bstream(?:ing)?\b"),
    ("temperature", r"temperature"),
    ("max_tokens", r"max_tokens"),
)
"""Words of a refusal and the feature they speak of, the narrower before the wider ones."""


@dataclass(frozen=True)
class Abilities:
    """Features that a request may use."""

    tools: bool = True
    """Functions as the wire has them; without, calls are asked for as JSON in the text."""
    strict: bool = True
    parallel: bool = True
    """Several calls in one message."""
    stream: bool = True
    usage: bool = True
    """A last chunk with the tokens used."""
    json_schema: bool = True
    """`response_format` with a schema; used only without `tools`."""
    temperature: bool = True
    max_tokens: bool = True
    """The older name of the limit; without, `max_completion_tokens`."""

    def without(self, refusal: str) -> "Abilities | None":
        """What is left after the endpoint refused a request in these words; None where they speak of no feature that
        was in use."""
        for feature, pattern in _SPEAKS_OF:
            if self._uses(feature) and re.search(pattern, refusal, re.IGNORECASE):
                return replace(self, **{feature: False})
        return None

    def _uses(self, feature: str) -> bool:
        if feature == "json_schema":
            return not self.tools and self.json_schema
        if feature in ("strict", "parallel"):
            return self.tools and bool(getattr(self, feature))
        if feature == "usage":
            return self.stream and self.usage
        return bool(getattr(self, feature))
