"""The conversation, kept small: the last turns whole, older ones a line each, everything else told by the state.

A model sees the system prompt, one message with the state as it is now, and what it did last.
"""

from dataclasses import dataclass, field, replace

from ppagent.agent.choosing import View
from ppagent.brains.llm.model import Called, Message, Reply
from ppagent.brains.llm.notebook import Notebook
from ppagent.brains.llm.prompts import prompt
from ppagent.brains.llm.showing import board_shown, evidence_index, quoted, server_shown, shown, unasked_shown
from ppagent.brains.llm.toolset import Toolset

WHOLE_TURNS = 2
MOST_EARLIER = 20
ANSWER_LIMIT = 6_000
"""Characters of the answer to one call."""
OPENING_LIMIT = 3_000
_QUESTION = 1_500


@dataclass
class Turn:
    """One reply of the model and what its calls came to."""

    reply: Reply
    answers: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """For the line that is left of it later: the call, and the ids that it gave."""

    def messages(self) -> list[Message]:
        said = Message("assistant", self.reply.text, self.reply.calls)
        if not self.reply.calls:
            return [said, Message("user", prompt("nudge"))]
        return [said, *(self._answer(call) for call in self.reply.calls)]

    def _answer(self, call: Called) -> Message:
        text = "\n".join(self.answers.get(call.id, ())) or "(nothing)"
        return Message("tool", text[:ANSWER_LIMIT], call_id=call.id)


@dataclass
class Conversation:
    """Everything said so far in one investigation."""

    turns: list[Turn] = field(default_factory=list)
    _calls: int = 0

    def add(self, reply: Reply) -> Turn:
        """The reply as a turn of its own, its calls with ids that are ours: a server's may be empty or repeat."""
        calls = []
        for call in reply.calls:
            self._calls += 1
            calls.append(Called(f"call_{self._calls}", call.name, call.arguments))
        turn = Turn(replace(reply, calls=tuple(calls)))
        self.turns.append(turn)
        return turn

    def messages(self, view: View, notebook: Notebook, toolset: Toolset, *, tight: bool = False) -> list[Message]:
        """What is sent next. `tight` where a longer one was refused: only the last turn whole."""
        whole = self.turns[-(1 if tight else WHOLE_TURNS) :]
        folded = self.turns[: len(self.turns) - len(whole)]
        state = prompt(
            "state",
            question=quoted(view.question, _QUESTION) or "(nothing)",
            server=server_shown(view),
            budget=budget_shown(view),
            board=board_shown(view.board),
            evidence=evidence_index(view.evidence) or "none yet",
            unasked=unasked_shown(view, toolset),
            own=notebook.shown(view.facts),
            earlier=self._earlier(folded, view),
        )
        recent = [message for turn in whole for message in turn.messages()]
        return [Message("system", prompt("investigate")), Message("user", state), *recent]

    def _earlier(self, folded: list[Turn], view: View) -> str:
        """At the start the evidence at hand, later a line for each turn that is no longer told whole."""
        if not self.turns:
            return f"Known at the start:\n{shown(view.evidence)[:OPENING_LIMIT]}" if view.evidence else ""
        lines = [note for turn in folded for note in turn.notes][-MOST_EARLIER:]
        return "\n".join(["Earlier:", *lines]) if lines else ""


def budget_shown(view: View) -> str:
    """What was spent of what there is."""
    spent, limit = view.cost, view.budget
    parts = [
        f"{spent.steps} of {limit.steps} questions",
        f"{spent.seconds:.0f} of {limit.seconds:.0f} s",
        f"{spent.tokens} of {limit.tokens} tokens",
    ]
    return ", ".join([*parts, f"{spent.usd:.2f} of {limit.usd:.2f} USD"] if spent.usd else parts)
