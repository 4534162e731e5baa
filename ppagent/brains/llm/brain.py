"""The brain with a model: it chooses what to look at and may add what the list of causes does not hold.

Whatever the model leaves out, the rules ask afterwards. So an instruction in a log cannot change what is known of a
cause: not by an answer (code computes the board), and not by leaving a question out.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from time import monotonic
from typing import Any

from ppagent.agent.board import Board
from ppagent.agent.choosing import Stop, ToolCall, Usage, View
from ppagent.agent.contribution import Contribution
from ppagent.brains.llm.clerk import Clerk, Errand
from ppagent.brains.llm.conversation import Conversation
from ppagent.brains.llm.limits import Allowance, allowance
from ppagent.brains.llm.model import ChatModel, ContextTooLong, Message, ModelFailed, Reply
from ppagent.brains.llm.prices import CHARACTERS_PER_TOKEN, Prices, tokens_in
from ppagent.brains.llm.prompts import prompts_sha256
from ppagent.brains.llm.record import calls_as_data, messages_as_data
from ppagent.brains.llm.toolset import Toolset
from ppagent.brains.rules import RulesBrain
from ppagent.evidence.facts import Facts
from ppagent.evidence.masking import mask
from ppagent.sessions import Recorder, Unrecorded

MOST_NONSENSE = 3
"""Turns in a row that led to nothing."""


@dataclass(frozen=True)
class Settings:
    """How a model is used."""

    prices: Prices = Prices()
    context_tokens: int = 32_768
    reply_tokens: int = 2_048
    """Most tokens of one reply."""
    endpoint: str = ""
    """Host and port, for the record."""


class LlmBrain:
    """Asks a model for the next question, and the rules for what it left out."""

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        settings: Settings | None = None,
        recorder: Recorder | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._model, self._settings = model, settings or Settings()
        self._record = recorder or Unrecorded()
        self._clock = clock
        self._conversation = Conversation()
        self._clerk: Clerk | None = None
        self._rules: RulesBrain | None = None
        self._waiting: tuple[Errand, int, int] | None = None
        self._usage, self._nonsense, self._calls = Usage(), 0, 0
        self._tight = self._budget_used_up = False
        self._notes: tuple[str, ...] = ()

    def usage(self) -> Usage:
        return self._usage

    def contribution(self, board: Board, facts: Facts) -> Contribution:
        if self._clerk is None:
            return Contribution(model=self._model.name, notes=self._notes)
        return self._clerk.notebook.contribution(self._model.name, self._notes, board, facts)

    def choose(self, view: View) -> ToolCall | Stop:
        if self._rules is not None:
            return self._by_rules(self._rules, view)
        clerk = self._clerk = self._clerk or self._begin(view)
        self._settle(clerk, view)
        while True:
            left = allowance(view, self._usage, self._calls)
            if left.over:
                return self._hand_over(view, f"the model's part ends there: {left.over}", left.used_up)
            if clerk.errands:
                return self._send(clerk, view)
            if clerk.finished:
                return self._hand_over(view, "")
            try:
                over = self._turn(clerk, view, left)
            except ModelFailed as error:
                return self._hand_over(view, f"the model failed, so the rules finished: {error}")
            if over:
                return self._hand_over(view, f"the model's part ends there: {over}", used_up=True)
            if self._nonsense >= MOST_NONSENSE:
                return self._hand_over(view, f"the model led nowhere for {MOST_NONSENSE} turns, so the rules finished")

    def _begin(self, view: View) -> Clerk:
        self._record.write(
            "model",
            name=self._model.name,
            prompts_sha256=prompts_sha256(),
            characters_per_token=CHARACTERS_PER_TOKEN,
            **asdict(self._settings),
        )
        return Clerk(Toolset.of(view))

    def _turn(self, clerk: Clerk, view: View, left: Allowance) -> str:
        """One exchange with the model. Returns which limit it would have broken, in words, where it would."""
        now = replace(view, cost=replace(view.cost, tokens=self._usage.tokens, usd=self._usage.usd))
        messages = self._messages(clerk, now)
        size = _size(messages) + tokens_in(str([dict(f.parameters) for f in clerk.toolset.functions]))
        over = left.too_dear(size, self._settings.reply_tokens, self._settings.prices)
        if over:
            return over
        self._record.write("asked_model", messages=messages_as_data(messages))
        try:
            reply = self._model.complete(messages, clerk.toolset.functions, seconds=left.seconds)
        except ContextTooLong:
            if self._tight:
                raise
            self._tight = True
            return ""
        self._take(reply)
        turn = self._conversation.add(reply)
        self._nonsense = 0 if clerk.carry_out(turn, now) else self._nonsense + 1
        return ""

    def _messages(self, clerk: Clerk, view: View) -> list[Message]:
        """What is sent next, cut where the model's context is small. Raises ModelFailed where even that is too much."""
        room = self._settings.context_tokens - self._settings.reply_tokens
        for tight in (self._tight, True):
            messages = self._conversation.messages(view, clerk.notebook, clerk.toolset, tight=tight)
            if _size(messages) <= room:
                return messages
        raise ModelFailed(f"a context of {self._settings.context_tokens} tokens is too small for this investigation.")

    def _take(self, reply: Reply) -> None:
        spent, usd = reply.spent, self._settings.prices.usd(reply.spent)
        self._calls += 1
        self._usage = Usage(
            self._usage.tokens + spent.prompt_tokens + spent.completion_tokens, round(self._usage.usd + usd, 6)
        )
        price: dict[str, Any] = {
            "prompt_tokens": spent.prompt_tokens,
            "completion_tokens": spent.completion_tokens,
            "estimated": spent.estimated,
            "usd": round(usd, 6),
        }
        self._record.write(
            "reply",
            text=mask(reply.text),
            reasoning=mask(reply.reasoning),
            calls=calls_as_data(reply.calls),
            price=price,
        )

    def _send(self, clerk: Clerk, view: View) -> ToolCall:
        errand = clerk.errands.pop(0)
        self._waiting = (errand, len(view.evidence), len(view.missing))
        return errand.question

    def _settle(self, clerk: Clerk, view: View) -> None:
        """The answer to the question that was sent last."""
        if self._waiting is not None:
            errand, evidence_before, missing_before = self._waiting
            clerk.answer(errand, view, evidence_before, missing_before)
            self._waiting = None

    def _hand_over(self, view: View, why: str, used_up: bool = False) -> ToolCall | Stop:
        """The rules go on from here. `why` stands in the report; empty where the model had simply finished."""
        self._record.write("handed_over", why=why, budget_used_up=used_up)
        self._notes = (why.rstrip("."),) if why else ()
        self._budget_used_up = used_up
        self._rules = RulesBrain()
        return self._by_rules(self._rules, view)

    def _by_rules(self, rules: RulesBrain, view: View) -> ToolCall | Stop:
        """The rules' choice. A tool that the model asked with arguments of its own counts as not asked."""
        chosen = self._clerk.free_form if self._clerk is not None else set()
        choice = rules.choose(replace(view, asked=view.asked - chosen))
        return replace(choice, budget_used_up=self._budget_used_up) if isinstance(choice, Stop) else choice


def _size(messages: list[Message]) -> int:
    return sum(tokens_in(message.text) + sum(tokens_in(c.arguments) for c in message.calls) for message in messages)
