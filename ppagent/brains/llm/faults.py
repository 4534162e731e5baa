"""What went wrong with a request: worth another try, a feature the endpoint lacks, or the end, in one sentence."""

import json
import re
from dataclasses import dataclass
from typing import Literal

import httpx2
import openai

from ppagent.brains.llm.stream import CutOff, TooSlow
from ppagent.evidence.masking import mask
from ppagent.evidence.quoting import quotable

FAILURES = (openai.OpenAIError, httpx2.HTTPError, json.JSONDecodeError, UnicodeDecodeError, CutOff, TooSlow)
"""Everything that a request may fail with; anything else is a bug."""

Kind = Literal["again", "refused", "too_long", "over"]

_TOO_LONG = re.compile(
    r"context[ _]length|context window|maximum context|too (?:long|many tokens)|exceeds? the (?:model|available|max)"
    r"|longer than the model|prompt is too|input tokens? exceed",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model\b.{0,80}\b(?:not found|does not exist|unknown)|no such model|unknown model", re.IGNORECASE
)
_SAID = 160


@dataclass(frozen=True)
class Fault:
    """A failed request, judged."""

    kind: Kind
    says: str
    """One sentence."""
    words: str = ""
    """What the endpoint said, for finding the feature it refuses."""
    wait_s: float | None = None
    """How long it asks to wait."""


def fault_of(error: Exception, endpoint: str, model: str) -> Fault:
    """What `error` means for a request to `model` at `endpoint` (a host's name, for the sentence)."""
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException() | TooSlow():
            return Fault("again", f"{endpoint} did not answer in time.")
        case openai.APIStatusError():
            return _status(error, endpoint, model)
        case CutOff():
            return Fault("again", f"{endpoint} did not finish its answer: {error}.", words="stream")
        case openai.APIConnectionError() | httpx2.HTTPError():
            return Fault("again", f"{endpoint} cannot be reached{_cause(error)}.")
        case json.JSONDecodeError() | UnicodeDecodeError():
            return Fault("again", f"{endpoint} sent an answer that is no JSON.", words="stream")
        case openai.APIError():
            return Fault("again", f"{endpoint} failed: {_said(error.message)}.", error.message)
        case _:
            return Fault("over", f"the request to {endpoint} failed: {_said(str(error))}.")


def _status(error: openai.APIStatusError, endpoint: str, model: str) -> Fault:
    code, words = error.status_code, _words(error)
    said = _said(words)
    if code in (401, 403):
        return Fault(
            "over", f"{endpoint} refuses the API key ({code}): set OPENAI_API_KEY, or api_key_env of the profile."
        )
    if code == 429:
        spent = "insufficient_quota" in words
        return Fault(
            "over" if spent else "again", f"{endpoint} turns requests away (429): {said}.", wait_s=_wait(error)
        )
    if _TOO_LONG.search(words) or code == 413:
        return Fault("too_long", f"the conversation is too long for {model}: {said}.", words)
    if _NO_MODEL.search(words) or (code == 404 and "model" in words.lower()):
        return Fault("over", f"{endpoint} has no model {model!r}: name one that it serves with --model.")
    if code == 404:
        return Fault("over", f"{endpoint} serves no chat completions there (404): the base URL mostly ends in /v1.")
    if code >= 500 or code in (408, 409, 425):
        return Fault("again", f"{endpoint} failed ({code}): {said}.", words, _wait(error))
    if code < 400:
        return Fault("over", f"{endpoint} sends requests elsewhere ({code}), which is not followed.")
    return Fault("refused", f"{endpoint} refused the request ({code}): {said}.", words)


def _words(error: openai.APIStatusError) -> str:
    """The endpoint's own words: OpenAI's `error.message`, SGLang's `message`, else the whole body."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        told = inner.get("message") if isinstance(inner, dict) else inner
        code = inner.get("code") if isinstance(inner, dict) else ""
        return f"{told or body} {code or ''}".strip()
    return str(body or error.message)


def _said(words: str) -> str:
    return quotable(mask(" ".join(words.split())), _SAID).rstrip(".") or "it does not say why"


def _wait(error: openai.APIStatusError) -> float | None:
    text = error.response.headers.get("retry-after", "")
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def _cause(error: Exception) -> str:
    inner = error.__cause__ or error
    words = _said(str(inner)) if str(inner) else type(inner).__name__
    return "" if words == "Connection error" else f" ({words})"
