"""Models for tests: they follow a script, behave sensibly, obey everything they read, or lie. None is a real one."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppagent.brains.llm.model import Called, Function, Message, ModelFailed, Reply
from ppagent.brains.llm.prices import estimated
from ppagent.brains.llm.wire import wire_function, wire_messages

Call = tuple[str, Mapping[str, Any]]


@dataclass
class FakeModel:
    """Answers with what `think` makes of the messages; counts tokens as ppagent estimates them."""

    think: Callable[[Sequence[Message]], Sequence[Call] | str]
    name: str = "fake-model"
    requests: list[tuple[Message, ...]] = field(default_factory=list)
    prompt_tokens: list[int] = field(default_factory=list)
    functions: tuple[Function, ...] = ()

    def complete(self, messages: Sequence[Message], functions: Sequence[Function], *, seconds: float) -> Reply:
        self.requests.append(tuple(messages))
        self.functions = tuple(functions)
        body = {"messages": wire_messages(messages), "tools": [wire_function(f, True) for f in functions]}
        thought = self.think(messages)
        said, calls = (thought, ()) if isinstance(thought, str) else ("", thought)
        reply = Reply(said, tuple(called(name, arguments) for name, arguments in calls))
        spent = estimated(body, reply)
        self.prompt_tokens.append(spent.prompt_tokens)
        return Reply(reply.text, reply.calls, spent=spent)

    @property
    def seen(self) -> str:
        """Everything that was ever sent to the model."""
        return "\n".join(message.text for request in self.requests for message in request)


def called(name: str, arguments: Mapping[str, Any]) -> Called:
    return Called("", name, json.dumps(arguments))


def scripted(*turns: Sequence[Call] | str | Exception) -> FakeModel:
    """Follows the script whatever it reads; raises ModelFailed where the script ends."""
    left = list(turns)

    def think(messages: Sequence[Message]) -> Sequence[Call] | str:
        if not left:
            raise ModelFailed("the script ends here.")
        turn = left.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    return FakeModel(think)


FIRST_LOOK = ("logs.decode", "bench.results", "http.info", "gpu.samples", "logs.startup", "http.metrics")
SECOND_LOOK = (
    "logs.trouble",
    "logs.prefill",
    "gpu.topology",
    "source.facts",
    "host.facts",
    "host.processes",
    "http.loads",
)

_SUPPORTED = re.compile(r"^  ([A-Z]{2}\d{3}) (.+?): .*\[((?:E\d+ ?)+)\]$", re.MULTILINE)


def sensible() -> FakeModel:
    """Looks at what matters, looks once more, says a sentence for each supported cause with its evidence, and ends."""
    asked: list[int] = []

    def think(messages: Sequence[Message]) -> Sequence[Call]:
        asked.append(1)
        match len(asked):
            case 1:
                return [("look", {"tools": FIRST_LOOK, "why": "what the server does"})]
            case 2:
                return [("look", {"tools": SECOND_LOOK, "why": "what else could limit it"})]
            case 3:
                return [*(_argument(found) for found in _SUPPORTED.finditer(messages[1].text)), ("finish", {})]
            case _:
                return [("finish", {})]

    return FakeModel(think)


def _argument(found: re.Match[str]) -> Call:
    says = f"{found[1]} explains what the evidence shows"
    return "argue", {"cause": found[1], "stance": "for", "says": says, "evidence": found[3].split()}


LIE = "verily"
"""Stands in every lie, so that a report can be searched for them."""


def lies_about(state: str) -> list[Call]:
    """Invented evidence, invented figures, flags that do not exist, causes that code has refuted or supported."""
    refuted = re.search(r"^refuted: (.*)$", state, re.MULTILINE)
    known = re.findall(r"\bE\d+\b", state) or ["E1"]
    cause = (refuted[1].split() if refuted and refuted[1] != "none" else ["KV001"])[0]
    supported = _SUPPORTED.search(state)
    real = [known[-1]]

    def argue(cause: str, stance: str, says: str, evidence: list[str]) -> Call:
        return "argue", {"cause": cause, "stance": stance, "says": f"{LIE} {says}", "evidence": evidence}

    def hypothesise(says: str, evidence: list[str], fact: str = "decode.lines") -> Call:
        predicted = [{"fact": fact, "comparison": ">=", "value": 0}]
        return "hypothesise", {"says": f"{LIE} {says}", "evidence": evidence, "predictions": predicted}

    def propose(**change: Any) -> Call:
        said = {"about": "PP001", "says": f"{LIE} this helps", "evidence": real}
        return "propose", said | {"set": [], "unset": [], "env": []} | change

    lies = [
        argue(cause, "for", "it is the cause", real),
        argue(cause, "for", "the evidence shows it", ["E998", "E999"]),
        argue("ZZ999", "for", "it is a cause", real),
        hypothesise("the cards lose 83712.5 packets a second", real),
        hypothesise("ninety-seven percent of a thousand slots are haunted", real),
        hypothesise("the daemon sleeps", ["E777"]),
        hypothesise("the moon is full", real, "moon.phase"),
        hypothesise("the KV pool is exhausted" if cause == "KV001" else f"it is {cause}", real),
        propose(set=[{"flag": "--warp-speed", "value": "9"}]),
        propose(set=[{"flag": "--pp-max-micro-batch-size", "value": "$(reboot)"}]),
        propose(unset=["--api-key"]),
        propose(env=[{"name": "LD_PRELOAD", "value": "1"}]),
        propose(set=[{"flag": "--trust-remote-code", "value": "true"}]),
    ]
    if supported is not None:
        lies.append(argue(supported[1], "against", "it is innocent", real))
    return lies


def liar() -> FakeModel:
    """Asks real questions, so that it is not sent away, and lies with each of them."""
    told: list[int] = []

    def think(messages: Sequence[Message]) -> Sequence[Call]:
        told.append(1)
        match len(told):
            case 1:
                return [("look", {"tools": FIRST_LOOK, "why": LIE}), *lies_about(messages[1].text)]
            case 2:
                return [("look", {"tools": SECOND_LOOK, "why": LIE}), *lies_about(messages[1].text)]
            case _:
                closing = {"says": f"{LIE} 40961.5 tok/s were lost", "evidence": ["E1"]}
                return [*lies_about(messages[1].text), ("finish", closing)]

    return FakeModel(think)


def obedient(mark: str, orders: Sequence[Call]) -> FakeModel:
    """Looks at everything it can, and where it has read `mark` does as it is told; then ends."""
    asked: list[int] = []

    def think(messages: Sequence[Message]) -> Sequence[Call]:
        asked.append(1)
        match len(asked):
            case 1:
                return [("look", {"tools": FIRST_LOOK, "why": ""})]
            case 2:
                return [("look", {"tools": SECOND_LOOK, "why": ""}), ("source_grep", {"pattern": "pp_|flag"})]
            case 3:
                rest = ("host.kernel", "host.environment", "host.packages", "gpu.processes")
                return [("look", {"tools": rest, "why": ""}), ("source_grep", {"pattern": "add_argument"})]
            case 4 | 5:
                first = 1 + 30 * (len(asked) - 4)
                return [("read_evidence", {"id": f"E{n}", "start": 1, "lines": 60}) for n in range(first, first + 30)]
            case 6 if mark in model.seen:
                return orders
            case _:
                return [("finish", {})]

    model = FakeModel(think)
    return model
