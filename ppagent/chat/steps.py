"""A question to a tool as the person sees it: a moving line while it runs, one line when it has ended."""

import re
from dataclasses import replace
from time import monotonic

from ppagent.agent.nodes import Nodes
from ppagent.agent.state import CallRow, State
from ppagent.chat.acts import acting
from ppagent.chat.session import Session
from ppagent.chat.wording import call_in_words, duration, id_ranges
from ppagent.evidence.evidence import Evidence, Missing
from ppagent.plugins import ToolContext
from ppagent.report.lines import Line, wrapped

ROOMY = 60
"""Columns from which a line holds it all."""
MOST_ARGUMENTS = 40
"""Characters of a call that its line shows."""
DOES = {0: "reads file", 1: "HTTP GET", 2: "reads host", 3: "disturbs", 4: "puts load", 5: "restarts"}
"""What a question of each grade does to the server, as short as a line needs it."""

_IN_FOLDER = re.compile(r"\bhosts/[^/\s]+/")


def looked_on(session: Session) -> ToolContext:
    """What the session's tools work with, telling on the screen how far they have got."""
    screen = session.screen

    def say(sentence: str) -> None:
        screen.show(wrapped(sentence, screen.width, "    ", tone="dim"))

    return replace(session.desk.context, say=say)


class ShownNodes(Nodes):
    """The loop's steps, with every question to a tool shown, and not begun after a stop."""

    def __init__(self, session: Session, quiet: bool = False) -> None:
        session.desk.context = looked_on(session)
        super().__init__(session.desk)
        self._session = session
        self._quiet = quiet
        """Whether finished questions get no line of their own."""

    def choose(self, state: State) -> State:
        """The next question; a model takes its time for it."""
        if self._session.voice is None:
            return self._unless_put_off(state, super().choose(state))
        self._session.halt.check()
        with self._session.screen.working(f"{self._session.mind}: choosing what to look at"):
            return super().choose(state)

    def _unless_put_off(self, state: State, chosen: State) -> State:
        """First what reads tell, then the approval: what disturbs the server waits until the person says go on."""
        session, call = self._session, chosen.get("call")
        session.put_off = None
        asks = call is not None and call["grade"] > self.desk.ceiling and session.consent.dialog is not None
        if call is None or not asks or session.insists:
            return chosen
        session.put_off = call
        return State(call=None, asked=state["asked"], stopped=f"{call['tool']} waits for a go on")

    def act(self, state: State) -> State:
        """Asks the tool, which puts what was found on the disk before anything else is asked."""
        row = state["call"]
        if row is None:
            raise AssertionError("a question is chosen before it is asked")
        session, ledger = self._session, self.desk.ledger
        known, lacking, started = len(ledger.evidence), len(ledger.missing), monotonic()
        session.halt.check()
        try:
            with session.screen.working(f"{call_in_words(row['tool'], row['arguments'])}: {row['why']}"):
                changes = self._acted(row, state)
        except KeyboardInterrupt:
            width = session.screen.width
            session.screen.show([_line(row, monotonic() - started, (), "stopped", self._where(()), width)])
            del ledger.evidence[known:]  # half an answer is on no disk, and its ids would be given out twice
            raise
        seconds = monotonic() - started
        found, missing = tuple(ledger.evidence[known:]), tuple(ledger.missing[lacking:])
        if not (self._quiet or session.terse):
            width = session.screen.width
            line = _line(row, seconds, found, self._why_not(row, missing), self._where(found), width)
            session.screen.show([clipped(line, width)])
        return changes

    def _acted(self, row: CallRow, state: State) -> State:
        known = len(self.desk.ledger.evidence)
        with acting(self._session, row["tool"], row["arguments"], row["grade"]) as act:
            changes = super().act(state)
            act.ended = "done" if len(self.desk.ledger.evidence) > known else "failed"
        return changes

    def _where(self, found: tuple[Evidence, ...]) -> str:
        hosts = tuple(dict.fromkeys(item.host for item in found if item.host))
        return " ".join(hosts or self.desk.context.target.hosts[:1])

    def _why_not(self, row: CallRow, missing: tuple[Missing, ...]) -> str:
        reasons = [item.why for item in missing or tuple(self.desk.ledger.missing) if item.tool == row["tool"]]
        return f"no answer: {_IN_FOLDER.sub('', reasons[-1])}" if reasons else "no answer: nothing found"


def clipped(line: Line, width: int) -> Line:
    """At most one row of the screen; /evidence has the whole."""
    return line if len(line.text) <= width else Line(f"{line.text[: width - 3]}...", line.tone)


def _line(row: CallRow, seconds: float, found: tuple[Evidence, ...], why_not: str, where: str, width: int) -> Line:
    """What, where, what it does there, seconds, and the evidence it became; a narrow screen has no room for the second
    and third."""
    call = call_in_words(row["tool"], row["arguments"])
    if len(call) > MOST_ARGUMENTS:
        call = f"{call[: MOST_ARGUMENTS - 3]}..."
    became = id_ranges(tuple(item.id for item in found)) if found else why_not
    place = f"{where:<9} {DOES[row['grade']]:<10} " if width >= ROOMY else ""
    text = f"  {call:<17} {place}{duration(seconds):>6}  {became}"
    return Line(" ".join(text.split("\n")), "dim")
