"""The loop as a graph.

    look -> choose -> approve -> act -> judge -> choose -> ... -> propose

LangGraph is imported here only, and inside the functions: it takes longer to load than a recording takes to diagnose.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from ppagent.agent.budget import Budget
from ppagent.agent.nodes import Nodes
from ppagent.agent.state import State

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

STEPS_PER_QUESTION = 4
"""choose, approve, act, judge."""


def build_graph(nodes: Nodes) -> "CompiledStateGraph[State, None, State, State]":
    """The compiled loop. It keeps its state between invocations only where somebody may be asked something, and then
    as plain data: a checkpoint that names a class to build comes back without it."""
    with _collector_paused():
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State)
    graph.add_node("look", nodes.look)
    graph.add_node("choose", nodes.choose)
    graph.add_node("approve", nodes.approve)
    graph.add_node("act", nodes.act)
    graph.add_node("judge", nodes.judge)
    graph.add_node("propose", nodes.propose)
    graph.add_edge(START, "look")
    graph.add_edge("look", "choose")
    graph.add_conditional_edges("choose", after_choosing)
    graph.add_conditional_edges("approve", after_approval)
    graph.add_edge("act", "judge")
    graph.add_edge("judge", "choose")
    graph.add_edge("propose", END)
    plain_data = JsonPlusSerializer(pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None)
    return graph.compile(checkpointer=InMemorySaver(serde=plain_data) if nodes.desk.can_ask else None)


def after_choosing(state: State) -> Literal["approve", "propose"]:
    """A question goes to approval; none ends the loop."""
    return "propose" if state["call"] is None else "approve"


def after_approval(state: State) -> Literal["act", "choose"]:
    """What was denied is not asked; the brain may choose something else."""
    return "act" if state["allowed"] else "choose"


def recursion_limit(budget: Budget) -> int:
    """Node runs that the budget's steps can need, and a few to spare: the budget stops the loop, never this."""
    return STEPS_PER_QUESTION * (budget.steps + 1) + 8


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Nothing of a thousand imported modules is garbage: looking through them takes a tenth of their loading time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
