"""Any endpoint that speaks OpenAI's Chat Completions: OpenAI, SGLang, vLLM, llama.cpp, Ollama.

This module loads the `openai` package; nothing on the way to the rules brain imports it.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from ppagent.brains.llm.abilities import Abilities
from ppagent.brains.llm.faults import FAILURES, Fault, fault_of
from ppagent.brains.llm.intext import call_in_text, split_thoughts
from ppagent.brains.llm.model import ContextTooLong, Function, Message, ModelFailed, Reply
from ppagent.brains.llm.prices import estimated
from ppagent.brains.llm.stream import reply_of_body, reply_of_stream
from ppagent.brains.llm.wire import request_body

ATTEMPTS = 4
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 30.0
CONNECT_S = 10.0

Sleep = Callable[[float], None]
Clock = Callable[[], float]


class OpenAiModel:
    """One model at one endpoint. What the endpoint cannot do is learned once and left out from then on."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        *,
        abilities: Abilities | None = None,
        timeout_s: float = 120.0,
        max_tokens: int = 2048,
        sleep: Sleep = time.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self.name = model
        self.endpoint = urlsplit(base_url).netloc or base_url
        self.abilities = abilities or Abilities()
        self.max_tokens = max_tokens
        self._timeout_s, self._sleep, self._clock = timeout_s, sleep, clock
        self._client = openai.OpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            http_client=httpx2.Client(verify=not base_url.startswith("http://"), follow_redirects=False),
        )

    def complete(self, messages: Sequence[Message], functions: Sequence[Function], *, seconds: float) -> Reply:
        """The reply, after as many tries as time and patience allow. Raises ModelFailed where there is none."""
        self.name = self.name or self._first_served()
        until = self._clock() + seconds
        failed = 0
        while True:
            try:
                return self._once(messages, functions, until)
            except FAILURES as error:
                fault = fault_of(error, self.endpoint, self.name)
            if self._learns(fault):
                continue
            if fault.kind == "too_long":
                raise ContextTooLong(fault.says)
            if fault.kind != "again":
                raise ModelFailed(fault.says)
            failed += 1
            self._wait(fault, failed, until)

    def _learns(self, fault: Fault) -> bool:
        """Whether the fault names a feature to leave out, which makes another try worth it at once."""
        if fault.kind not in ("refused", "again") or not fault.words:
            return False
        left = self.abilities.without(fault.words)
        if left is None:
            return False
        self.abilities = left
        return True

    def _wait(self, fault: Fault, failed: int, until: float) -> None:
        """Longer after each failure; as long as the endpoint asks for, within reason. Raises ModelFailed at the end."""
        wait_s = fault.wait_s if fault.wait_s is not None else FIRST_WAIT_S * 2 ** (failed - 1)
        wait_s = min(wait_s, LONGEST_WAIT_S)
        if failed >= ATTEMPTS or self._clock() + wait_s >= until:
            tries = "one try" if failed == 1 else f"{failed} tries"
            raise ModelFailed(f"{fault.says.rstrip('.')}, after {tries}.")
        self._sleep(wait_s)

    def _once(self, messages: Sequence[Message], functions: Sequence[Function], until: float) -> Reply:
        abilities = self.abilities
        body = request_body(self.name, messages, functions, abilities, self.max_tokens)
        left_s = max(0.1, min(self._timeout_s, until - self._clock()))
        stop = self._clock() + left_s
        timeout = httpx2.Timeout(left_s, connect=min(CONNECT_S, left_s))
        completions: Any = self._client.chat.completions

        def in_time() -> bool:
            return self._clock() < stop

        if not abilities.stream:
            with completions.with_streaming_response.create(**body, timeout=timeout) as whole:
                return self._tidied(reply_of_body(whole.iter_bytes(), in_time), body, functions)
        with completions.create(**body, timeout=timeout) as answer:
            reply = reply_of_stream(answer, in_time)
        if reply.finish == "tool_calls" and not reply.calls:
            self.abilities = replace(abilities, stream=False)
            return self._once(messages, functions, until)
        return self._tidied(reply, body, functions)

    def _tidied(self, reply: Reply, body: dict[str, Any], functions: Sequence[Function]) -> Reply:
        """Thoughts set apart, a call found in the text, and tokens estimated where the server does not count."""
        said, thought = split_thoughts(reply.text)
        in_text = None if reply.calls else call_in_text(said, {function.name for function in functions})
        spent = reply.spent if reply.spent.prompt_tokens else estimated(body, reply)
        return replace(
            reply,
            text=said,
            calls=(in_text,) if in_text is not None else reply.calls,
            reasoning="\n".join(part for part in (reply.reasoning, thought) if part),
            spent=spent,
        )

    def _first_served(self) -> str:
        """The model of an endpoint that serves one's own: what it lists first."""
        try:
            served = [model.id for model in self._client.models.list(timeout=CONNECT_S)]
        except FAILURES as error:
            raise ModelFailed(fault_of(error, self.endpoint, "").says) from error
        if not served:
            raise ModelFailed(f"{self.endpoint} serves no model.")
        return served[0]
