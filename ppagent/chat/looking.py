"""Looking at the target: a first look that says what it is, and whole investigations, one question after the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

from ppagent.agent.budget import Budget
from ppagent.agent.choosing import Stop, ToolCall
from ppagent.agent.graph import build_graph, recursion_limit
from ppagent.agent.opening import OPENING_FACTS, STATED, opening_call
from ppagent.agent.state import CallRow, DeniedRow, State
from ppagent.agent.toolbox import Offer
from ppagent.brains.rules import RulesBrain
from ppagent.chat.deeds import deed_of
from ppagent.chat.session import Session
from ppagent.chat.steps import ShownNodes
from ppagent.chat.words import tell
from ppagent.errors import ToolError
from ppagent.evidence.evidence import Missing
from ppagent.plugins import Grade

AT_ONCE = (*OPENING_FACTS, "decode.lines", "loads.running")
"""What server it is, and what load it is under, as far as a live one tells without being watched for a while."""
FIRST_FACTS = (*OPENING_FACTS, "bench.levels", "gpu.names", "decode.lines", "metrics.window_s", "loads.running")
"""The same with what a recording has of it at hand."""


class Denied(Exception):
    """The asking ends here: the person said no and nothing else, or it cannot be done at all. Its text says which."""


def first_look(session: Session) -> None:
    """Asks what tells the server's version, shape and load. Only by built-in tools that read, and without the loop,
    which takes longer to load than a recording to look at."""
    nodes = ShownNodes(session, quiet=True)
    with at_work(session):
        for call in iter(lambda: _first_call(session) if session.live else _call_as_diagnosed(session), None):
            session.state = State({**session.state, "call": call, "asked": [*session.state["asked"], _key(call)]})
            session.state = State({**session.state, **nodes.act(session.state), "call": None})


def investigate(session: Session, question: str = "") -> None:
    """Asks until nothing can move the board. `question` is the user's words, which are evidence too.

    Ctrl-C ends it with what it has; KeyboardInterrupt goes on to the caller.
    """
    if question:
        tell(session, question)
    if session.looked and session.put_off is None:
        return
    if session.voice is not None:
        over = session.model_used_up()
        session.think_with(RulesBrain() if over else session.make_brain(session.desk.recorder))
    session.status = "finished"
    session.state = State({**session.state, "stopped": "", "budget_used_up": False})
    with at_work(session):
        try:
            _run(session)
        except Denied as denied:
            session.state = State({**session.state, "stopped": str(denied)})
        except KeyboardInterrupt:
            session.status = "cancelled"
            raise
    session.status = "budget_used_up" if session.state["budget_used_up"] else "finished"
    session.looked = session.status == "finished"


def know(session: Session) -> None:
    """Makes an investigation where none was made yet. One that the person stopped is not begun again unasked."""
    if session.status != "cancelled" and not session.looked:
        investigate(session)


@contextmanager
def at_work(session: Session) -> Iterator[None]:
    """Counts the time, listens to Ctrl-C, and forgets a question that was cut short, so that it can be asked again."""
    started = monotonic()
    try:
        with session.halt.listening():
            yield
    except KeyboardInterrupt:
        _forget_cut_short(session)
        raise
    finally:
        session.seconds += monotonic() - started


def _forget_cut_short(session: Session) -> None:
    call = session.state["call"]
    if call is not None:
        asked = [key for key in session.state["asked"] if key != _key(call)]
        session.state = State({**session.state, "asked": asked, "call": None})


def _run(session: Session) -> None:
    """Runs the graph to its end, over approvals."""
    desk = session.desk
    desk.can_ask = session.consent.dialog is not None
    budget = desk.budget
    desk.budget = _left(session)
    desk.started = monotonic()
    graph: Any = build_graph(ShownNodes(session))
    config = {"recursion_limit": recursion_limit(budget), "configurable": {"thread_id": f"{session.id} {monotonic()}"}}
    entry: Any = State({**session.state, "call": None})
    try:
        while entry is not None:
            pending = _stream(session, graph, entry, config)
            entry = _answered(session, pending) if pending else None
    finally:
        desk.budget = budget


def _left(session: Session) -> Budget:
    """Steps and time count anew for each question of the user, tokens and money for the session."""
    budget, cost = session.desk.budget, session.cost()
    usd, tokens = max(budget.usd - cost.usd, 0.0), max(budget.tokens - cost.tokens, 0)
    return replace(budget, steps=budget.steps + len(session.state["asked"]), usd=usd, tokens=tokens)


def _stream(session: Session, graph: Any, entry: Any, config: dict[str, Any]) -> Any:
    """The approval that the graph waits for; None where it ran to its end."""
    pending = None
    for step in graph.stream(entry, config, stream_mode="values"):
        waiting = step.pop("__interrupt__", ())
        pending = waiting[0].value if waiting else None
        session.state = step
        session.halt.check()
    return pending


def _answered(session: Session, pending: dict[str, Any]) -> Any:
    """The person's answer, as the graph is resumed with it. A no with a word goes to the brain, which may do
    something else; a no by itself ends the asking."""
    from langgraph.types import Command

    call = session.state["call"]
    if call is None:
        raise AssertionError("the loop waits for an approval without a question")
    try:
        deed = deed_of(session, call)
    except ToolError as error:
        raise _denied(session, call, str(error), f"{call['tool']} cannot be done") from error
    decision = session.consent.decide(deed)
    session.record("approval", tool=call["tool"], grade=call["grade"], allowed=decision.allowed, word=decision.word)
    if decision.allowed:
        return Command(resume=True)
    reason = f"not allowed: {decision.word}" if decision.word else "not allowed"
    if decision.word and session.desk.brain.name != "rules":
        session.desk.ledger.add_missing(Missing(call["tool"], reason))
        return Command(resume=False)
    raise _denied(session, call, reason, "you said no")


def _denied(session: Session, call: CallRow, why: str, stopped: str) -> Denied:
    """Notes what was not done, and why."""
    session.desk.ledger.add_missing(Missing(call["tool"], why))
    row = DeniedRow(tool=call["tool"], grade=call["grade"], why=why)
    session.state = State({**session.state, "call": None, "denied": [*session.state["denied"], row]})
    return Denied(stopped)


def _call_as_diagnosed(session: Session) -> CallRow | None:
    """The next question of a diagnosis by rules, until what the first look tells is known: a recording's evidence then
    has the same ids in a session as in the report of `ppagent diagnose`, which people hold beside it."""
    desk = session.desk
    view = desk.view(session.state)
    told = desk.ledger.facts()
    open_facts = [fact for fact in FIRST_FACTS if fact not in told]
    if not any(offer.may_tell(fact) for offer in view.unasked() for fact in open_facts):
        return None
    choice = opening_call(view) or RulesBrain().choose(view)
    offer = desk.toolbox.find(choice.tool) if isinstance(choice, ToolCall) else None
    most = min(desk.ceiling, Grade.READ_HOST)
    if offer is None or isinstance(choice, Stop):
        return None
    if not offer.built_in or offer.tool.grade > most:
        return _first_call(session)
    return CallRow(tool=choice.tool, arguments=dict(choice.arguments), why=choice.why, grade=int(offer.grade))


def _first_call(session: Session) -> CallRow | None:
    """The cheapest unasked tool that may tell a fact of the first look which nobody has witnessed yet."""
    desk, facts = session.desk, session.desk.ledger.facts()
    most = min(desk.ceiling, Grade.READ_HOST)
    asked = {key.partition(" ")[0] for key in session.state["asked"]}
    quiet = [offer for offer in desk.toolbox if offer.built_in and offer.tool.grade <= most]
    unasked = [offer for offer in quiet if offer.takes_no_arguments and offer.name not in asked]
    for fact in AT_ONCE if session.live else FIRST_FACTS:
        known = facts.get(fact)
        if known is not None and known.authority > STATED:
            continue
        able = [offer for offer in unasked if offer.may_tell(fact)]
        if able:
            return _row(min(able, key=lambda offer: offer.grade), f"to know {fact}")
    return None


def _row(offer: Offer, why: str) -> CallRow:
    return CallRow(tool=offer.name, arguments={}, why=why, grade=int(offer.grade))


def _key(call: CallRow) -> str:
    return ToolCall(call["tool"], call["why"], call["arguments"]).key
