"""A checkpoint that somebody tampered with must not build objects: a known way to run code on resume."""

import pickle
from dataclasses import dataclass
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ppagent.agent.budget import Budget
from ppagent.agent.desk import Desk
from ppagent.agent.graph import build_graph
from ppagent.agent.nodes import Nodes
from ppagent.agent.toolbox import open_toolbox
from ppagent.plugins import ToolContext
from tests.agent.fakes import FakeBrain, FakeTarget, no_plan

BUILT: list[str] = []


@dataclass
class Trap:
    """Notes that it was built."""

    name: str

    def __post_init__(self) -> None:
        BUILT.append(self.name)


def serializer(can_ask: bool = True) -> Any:
    desk = Desk(ToolContext(FakeTarget()), open_toolbox([], "local"), FakeBrain([]), no_plan, Budget(), can_ask=can_ask)
    saver: Any = build_graph(Nodes(desk)).checkpointer
    return saver.serde if saver is not None else None


def test_a_checkpoint_that_names_a_class_comes_back_without_it() -> None:
    packed = JsonPlusSerializer(allowed_msgpack_modules=True).dumps_typed({"call": Trap("set")})
    BUILT.clear()

    loaded = serializer().loads_typed(packed)

    assert BUILT == []
    assert not isinstance(loaded["call"], Trap)


def test_a_pickle_in_a_checkpoint_is_not_opened() -> None:
    with pytest.raises((NotImplementedError, ValueError)):
        serializer().loads_typed(("pickle", pickle.dumps({"a": 1})))


def test_the_state_itself_goes_through() -> None:
    state = {"call": {"tool": "a", "arguments": {"n": 1}}, "asked": ["a {}"], "allowed": True}
    kept = serializer()

    assert kept.loads_typed(kept.dumps_typed(state)) == state


def test_without_anybody_to_ask_nothing_is_kept_at_all() -> None:
    assert serializer(can_ask=False) is None
