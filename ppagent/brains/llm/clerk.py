"""Carries out what a model called: reads evidence, takes statements down, lines questions up for the tools.

Nothing here touches the target. A call that cannot be carried out is answered with the reason.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from ppagent.agent.choosing import ToolCall, View
from ppagent.agent.toolbox import Offer
from ppagent.brains.llm.checks import says_to_act, tidied
from ppagent.brains.llm.conversation import Turn
from ppagent.brains.llm.model import Called
from ppagent.brains.llm.moves import MOVES, Argue, Finish, Hypothesise, Look, Propose, ReadEvidence
from ppagent.brains.llm.notebook import Notebook
from ppagent.brains.llm.showing import page, quoted, shown, unanswered
from ppagent.brains.llm.toolset import BadCall, Toolset, validated

MOST_QUEUED = 24
_WHY = 100
_WRITTEN = 200


@dataclass(frozen=True)
class Errand:
    """A question on its way to a tool, and the call of the model that it answers."""

    turn: Turn
    call_id: str
    question: ToolCall


@dataclass
class Clerk:
    """What one investigation's calls are carried out with."""

    toolset: Toolset
    notebook: Notebook = field(default_factory=Notebook)
    errands: list[Errand] = field(default_factory=list)
    finished: bool = False
    free_form: set[str] = field(default_factory=set)
    """Keys of the questions whose arguments the model chose."""

    def carry_out(self, turn: Turn, view: View) -> bool:
        """Answers every call of a turn, or lines it up. True where at least one led to something."""
        useful = False
        for call in turn.reply.calls:
            try:
                answer, worked = self._carry_out(call, turn, view)
            except BadCall as error:
                answer, worked = f"Not done: {quoted(str(error), _WRITTEN)}.", False
            useful = useful or worked
            turn.answers.setdefault(call.id, []).extend([answer] if answer else [])
            turn.notes.append(_note(call, answer))
        return useful

    def answer(self, errand: Errand, view: View, evidence_before: int, missing_before: int) -> None:
        """What a tool came back with, as the answer to the model's call."""
        new = view.evidence[evidence_before:]
        tool = errand.question.tool
        ids = f"{new[0].id}-{new[-1].id}" if len(new) > 1 else new[0].id if new else "nothing"
        told = shown(new) if new else unanswered(view.missing[missing_before:])
        errand.turn.answers.setdefault(errand.call_id, []).append(f"{tool}:\n{told}")
        errand.turn.notes.append(f"{tool} gave {ids}")

    def _carry_out(self, call: Called, turn: Turn, view: View) -> tuple[str, bool]:
        """The answer so far (empty where a tool will give it), and whether the call led to something."""
        given = _arguments(call)
        move = MOVES.get(call.name)
        if move is not None:
            return self._move(validated(move, given), call, turn, view)
        offer = self._offer(call.name)
        arguments = self.toolset.arguments_for(offer, given)
        return self._queue(offer, arguments, "to know more", call, turn, view)

    def _move(self, move: BaseModel, call: Called, turn: Turn, view: View) -> tuple[str, bool]:
        match move:
            case Look():
                return self._look(move, call, turn, view)
            case ReadEvidence():
                return self._read(move, view)
            case Hypothesise():
                answer = self.notebook.hypothesise(move, view)
            case Argue():
                answer = self.notebook.argue(move, view)
            case Propose():
                answer = self.notebook.propose(move, view)
            case Finish():
                answer = self.notebook.close(move, view)
                self.finished = True
        return answer, not answer.startswith("Not taken")

    def _look(self, move: Look, call: Called, turn: Turn, view: View) -> tuple[str, bool]:
        answers, worked = [], False
        for name in list(dict.fromkeys(move.tools))[:MOST_QUEUED]:
            offer = self.toolset.find_plain(name)
            if offer is None:
                answers.append(f"There is no tool {quoted(name, 60)} for look at this ceiling.")
                continue
            answer, queued = self._queue(offer, {}, _why(move.why), call, turn, view)
            answers += [answer] if answer else []
            worked = worked or queued
        return "\n".join(answers), worked

    def _read(self, move: ReadEvidence, view: View) -> tuple[str, bool]:
        found = next((item for item in view.evidence if item.id == move.id.strip().upper()), None)
        if found is None:
            return f"There is no evidence {quoted(move.id, 20)}.", False
        return page(found, move.start, move.lines), True

    def _queue(
        self, offer: Offer, arguments: Mapping[str, Any], why: str, call: Called, turn: Turn, view: View
    ) -> tuple[str, bool]:
        question = ToolCall(offer.name, why, arguments)
        lined_up = {errand.question.key for errand in self.errands}
        asked_as_is = not arguments and offer not in view.unasked()
        if question.key in view.asked | lined_up or asked_as_is:
            ids = " ".join(item.id for item in view.evidence if item.tool == offer.name)
            return f"{offer.name} was asked already: {ids or 'it had no answer'}.", False
        if len(self.errands) >= MOST_QUEUED:
            return f"{offer.name} was left out: too many at once.", False
        if arguments:
            self.free_form.add(question.key)
        self.errands.append(Errand(turn, call.id, question))
        return "", True

    def _offer(self, name: str) -> Offer:
        """The tool behind a function; a tool of `look` called by its own name is meant as well."""
        offer = self.toolset.with_arguments.get(name) or next(
            (o for o in self.toolset.with_arguments.values() if o.name == name), None
        )
        offer = offer or self.toolset.find_plain(name)
        if offer is None:
            raise BadCall(f"there is no function {name[:60]!r} at this ceiling")
        return offer


def _arguments(call: Called) -> dict[str, Any]:
    """The arguments of a call. Raises BadCall where they are no JSON object."""
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise BadCall(f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadCall("the arguments are no JSON object")
    return value


def _why(why: str) -> str:
    """The model's reason as the person at the terminal sees it."""
    reason = tidied(why)[:_WHY]
    return reason if reason and not says_to_act(reason) else "the model wants to know"


def _note(call: Called, answer: str) -> str:
    """What is left of a call once its turn is folded."""
    first = answer.partition("\n")[0]
    return f"{quoted(call.name, 40)} {quoted(call.arguments, 120)}" + (f": {quoted(first, 120)}" if first else "")
