"""Asks the person before anything above the ceiling happens, and shows first exactly what would.

An answer holds for this session at the most, and for the same deed with the same arguments only. Nobody there, the end
of the input and Ctrl-C all mean no.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ppagent.agent.approvals import GRADE_MEANS
from ppagent.chat.screen import Screen
from ppagent.chat.wording import call_in_words, duration
from ppagent.evidence.masking import mask
from ppagent.plugins import Grade
from ppagent.report.lines import BLANK, Line, wrapped

QUESTION = "allow it? [y]es  [n]o (and why)  [s]ession > "
QUESTION_ONCE = "allow it this once? [y]es  [n]o (and why) > "
UNCLEAR = "y, n or s: what follows an n is told to the agent; s is a yes to this very call, all session"
YES = frozenset({"y", "yes"})
SESSION = frozenset({"s", "session"})
NO = ("n", "no")
ASKED_AT_MOST = 3
_LABELLED = re.compile(r"(?P<label>  [a-z][a-z ]{0,9} {2,}|  [a-z]{10} )(?P<text>\S.*)")
"""A line of a plan that is prose: `  way back   the old value is ...`."""
_TO_THE_LETTER = re.compile(r"\s*(?:[-+@]|the new command:|\$ )")


class Dialog(Protocol):
    """A person to ask. Raises EOFError where the input ends and KeyboardInterrupt on Ctrl-C."""

    def ask(self, question: str) -> str: ...


@dataclass(frozen=True)
class Deed:
    """What would be done."""

    name: str
    """A tool or a command of the session."""
    arguments: Mapping[str, Any]
    grade: int
    where: str
    why: str
    runs: str = ""
    """The exact command; empty where the tool does not tell it, and its name and arguments are all there is."""
    seconds: float | None = None
    """How long it is expected to take."""
    effect: str = ""
    """What it does to the server."""

    @property
    def once_only(self) -> bool:
        """Whether a yes counts for this one time only: what may change anything is never allowed beforehand."""
        return self.grade >= Grade.RESTART

    @property
    def key(self) -> str:
        return f"{self.name} {json.dumps(dict(self.arguments), sort_keys=True, default=str)}"

    def lines(self, width: int) -> list[Line]:
        """All that a person has to know to decide."""
        means = GRADE_MEANS.get(self.grade, "")
        head = Line(f"  {self.name}  asks to run  (grade {self.grade}: {means})", "heading")
        rows = [("where", self.where), ("effect", self.effect or means)]
        rows.append(("expected", duration(self.seconds) if self.seconds is not None else "it does not say how long"))
        rows.append(("because", self.why))
        lines = [BLANK, head, *self._runs(width)]
        for label, text in rows:
            lines += wrapped(text, width, f"    {label:<10}")
        return lines

    def _runs(self, width: int) -> list[Line]:
        """The command, as it is, beside its label. A plan of several lines stands below it: its prose is wrapped, what
        differs in a command, or is one, is not."""
        command = visible(self.runs or self.call)
        if "\n" not in command:
            return [Line(f"    {'runs':<10}{command}", "command")]
        lines = [Line("    runs")]
        for line in command.splitlines():
            labelled = _LABELLED.fullmatch(line)
            if labelled is not None:
                lines += wrapped(labelled["text"], width, f"    {labelled['label']}", tone="command")
            elif _TO_THE_LETTER.match(line):
                lines.append(Line(f"    {line}", "command"))
            else:
                indent = " " * (6 + len(line) - len(line.lstrip()))
                lines += wrapped(line, width, indent, tone="command") if line.strip() else [BLANK]
        return lines

    @property
    def call(self) -> str:
        """Name and arguments on one line."""
        return call_in_words(self.name, self.arguments)


def visible(command: str) -> str:
    """The command with whatever a screen hides, or shows like something else, as an escape: what is read is what
    runs."""
    return "".join(c if c == "\n" or " " <= c <= "~" else c.encode("unicode_escape").decode() for c in command)


@dataclass(frozen=True)
class Decision:
    """The answer, and the person's own words where there were any."""

    allowed: bool
    word: str = ""


@dataclass
class Consent:
    """The approvals of one session. They are kept in memory and nowhere else."""

    screen: Screen
    dialog: Dialog | None = None
    """None where nobody can be asked."""
    _session: set[str] = field(default_factory=set)

    def decide(self, deed: Deed) -> Decision:
        """Yes or no to one deed. Raises KeyboardInterrupt where the person stops it all."""
        if deed.key in self._session:
            self.screen.show([Line(f"  {deed.call}: allowed for this session", "dim")])
            return Decision(True)
        if self.dialog is None:
            return Decision(False)
        self.screen.show(deed.lines(self.screen.width))
        for _ in range(ASKED_AT_MOST):
            try:
                answer = self.dialog.ask(QUESTION_ONCE if deed.once_only else QUESTION)
            except EOFError:
                return Decision(False)
            decision = self._read(answer, deed)
            if decision is not None:
                return decision
        return Decision(False)

    def _read(self, answer: str, deed: Deed) -> Decision | None:
        """None for an answer that is neither."""
        text = mask(answer.strip())
        first, _, others = text.partition(" ")
        match first.lower().rstrip(",.:;"):
            case word if word in YES and not others.strip():
                return Decision(True)
            case word if word in SESSION and not others.strip() and not deed.once_only:
                self._session.add(deed.key)
                return Decision(True)
            case word if word in NO:
                return Decision(False, others.strip())
            case _:
                self.screen.show(wrapped(UNCLEAR, self.screen.width, "  ", tone="dim"))
                return None
