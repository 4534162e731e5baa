"""One conversation about one target: what is known, what was said, and who is asked."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ppagent.agent.board import Board
from ppagent.agent.budget import Cost
from ppagent.agent.choosing import Brain, Usage
from ppagent.agent.contribution import NOTHING, Contributes, with_own
from ppagent.agent.desk import Desk
from ppagent.agent.investigation import Investigation, Status
from ppagent.agent.probes import next_probes
from ppagent.agent.state import CallRow, State, fresh_state
from ppagent.agent.summary import summary_of
from ppagent.brains.rules import RulesBrain
from ppagent.changes.proposal import Plan
from ppagent.chat.acts import Act
from ppagent.chat.consent import Consent
from ppagent.chat.halt import Halt
from ppagent.chat.past import Before, Serving
from ppagent.chat.screen import Screen
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.masking import mask
from ppagent.report.lines import Line
from ppagent.sessions import Recorder

if TYPE_CHECKING:
    from ppagent.chat.voice import Voice

Speaker = Literal["user", "ppagent"]


@dataclass(frozen=True)
class Said:
    """One message of the conversation."""

    who: Speaker
    text: str


@dataclass
class Session:
    """Everything that a command or a question works with."""

    id: str
    target_text: str
    """The target as the user named it; a file by its whole path."""
    desk: Desk
    screen: Screen
    consent: Consent
    port: int | None = None
    """The server's HTTP port, where the user named one."""
    make_brain: Callable[[Recorder], Brain] = lambda recorder: RulesBrain()
    """A fresh brain for the next question."""
    voice: "Voice | None" = None
    """The model that answers what no rule understands; None for the rules alone."""
    halt: Halt = field(default_factory=Halt)
    state: State = field(default_factory=fresh_state)
    """The investigation as it is carried on from one question to the next."""
    said: list[Said] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """The user's statements, which are evidence."""
    terse: bool = False
    """Whether the answer alone is wanted, without a line for each tool."""
    offer: str = ""
    """What a yes would start."""
    shown: str = ""
    """The proposal that was shown last."""
    serving: dict[str, Serving] = field(default_factory=dict)
    """By host, the live server that the evidence is of."""
    before: Before | None = None
    """What was found in this session of the server as it was before it was looked at afresh."""
    acts: list[Act] = field(default_factory=list)
    """What was begun in it that does more than read."""
    archive: list[Evidence] = field(default_factory=list)
    """All evidence of before: it can be read, and nothing is concluded from it."""
    ended: bool = False
    """Whether the person was told that no server runs any more."""
    insists: bool = False
    """Whether the person wants everything asked, also what needs an approval."""
    put_off: CallRow | None = None
    """A question above the ceiling that waits until the person says go on."""
    told: str = ""
    """The last answer to why it is slow, so that it is not told twice in full."""
    lost: bool = False
    """Whether the person was told at length what the rules can answer."""
    looked: bool = False
    """Whether a whole investigation has ended since something new was told."""
    status: Status = "finished"
    seconds: float = 0.0
    """Spent at work, waiting for the user left out."""
    spent: Usage = Usage()
    """By brains that are not at work any more."""
    _planned_at: int = -1

    @property
    def mind(self) -> str:
        """Who chooses the questions, in words."""
        if self.voice is None:
            return "rules brain"
        profile = self.voice.profile
        return f"llm brain, {profile.model or 'the first model'} at {urlsplit(profile.base_url).netloc}"

    @property
    def live(self) -> bool:
        """Whether there is a server that goes on meanwhile, to look at again."""
        return self.desk.context.target.kind != "recording"

    def plan(self) -> Plan:
        """What the evidence of now leads to."""
        size = len(self.desk.ledger.evidence)
        if size != self._planned_at:
            self.desk.plan, self._planned_at = None, size
        return self.desk.propose()

    def take_desk(self, desk: Desk) -> None:
        """Goes on with another desk, about which nothing was concluded yet."""
        self.desk, self._planned_at = desk, -1
        self.state = State({**fresh_state(), "tool_calls": self.state["tool_calls"]})
        self.words, self.offer, self.shown = [], "", ""
        self.looked, self.status = False, "finished"

    def cost(self) -> Cost:
        calls = self.state["tool_calls"]
        used = [self.spent, self.desk.brain.usage(), *([self.voice.spent] if self.voice is not None else [])]
        tokens, usd = sum(usage.tokens for usage in used), sum(usage.usd for usage in used)
        return Cost(self.seconds, len(self.state["asked"]), calls, tokens, round(usd, 6))

    def model_used_up(self) -> str:
        """Which limit of a model is reached in this session, in words; empty while there is something left."""
        return self.desk.budget.used_up(replace(self.cost(), steps=0, seconds=0.0))

    def think_with(self, brain: Brain) -> None:
        """Takes another brain; what the last one spent still counts."""
        used = self.desk.brain.usage()
        self.spent = Usage(self.spent.tokens + used.tokens, round(self.spent.usd + used.usd, 6))
        self.desk.brain = brain

    def evidence_of(self, number: int) -> Evidence | None:
        """A piece of evidence by the number of its id, of before or of now."""
        return next((e for e in (*self.archive, *self.desk.ledger.evidence) if e.id == f"E{number}"), None)

    def glimpse(self) -> Investigation:
        """What is known before anything was concluded: evidence alone, and no board, which takes longer."""
        desk, target = self.desk, self.desk.context.target
        evidence, missing = tuple(desk.ledger.evidence), tuple(desk.ledger.missing)
        return Investigation(
            session=self.id,
            target_kind=target.kind,
            target_name=target.name,
            brain=desk.brain.name,
            question="",
            status=self.status,
            stopped="",
            verdict="not_enough_evidence",
            summary="",
            board=Board(()),
            evidence=evidence,
            missing=missing,
            plan=Plan(),
            next_probes=(),
            denied=(),
            cost=self.cost(),
        )

    def found(self) -> Investigation:
        """All that is known now, in the form that reports take."""
        desk = self.desk
        board, facts, plan, verdict = desk.board(), desk.facts(), self.plan(), desk.verdict()
        probes = next_probes(board, facts)
        added = desk.brain.contribution(board, facts) if isinstance(desk.brain, Contributes) else NOTHING
        return Investigation(
            session=self.id,
            target_kind=desk.context.target.kind,
            target_name=desk.context.target.name,
            brain=desk.brain.name,
            question=self.words[0] if self.words else facts.text("stated.question") or "",
            status=self.status,
            stopped=self.state["stopped"] if self.status != "cancelled" else "stopped",
            verdict=verdict,
            summary=summary_of(verdict, board, facts, plan, probes),
            board=board,
            evidence=tuple(desk.ledger.evidence),
            missing=tuple(desk.ledger.missing),
            plan=with_own(plan, added.proposals),
            next_probes=probes,
            denied=tuple(self.state["denied"]),
            cost=self.cost(),
            contribution=added,
        )

    def hear(self, text: str) -> str:
        """Notes what the user said, and gives it with secrets masked: nothing else is to see it as it was typed."""
        heard = mask(text)
        self._note("user", heard)
        return heard

    def say(self, lines: list[Line]) -> None:
        """Shows an answer and notes it."""
        self.screen.show(lines)
        self._note("ppagent", "\n".join(line.text.rstrip() for line in lines))

    def note_answer(self, text: str) -> None:
        """Notes an answer that was shown as it came, if any came."""
        if text:
            self._note("ppagent", text)

    def record(self, kind: str, **data: Any) -> None:
        """Puts a line into the session's file. Secrets in it are the caller's to mask."""
        self.desk.recorder.write(kind, **data)

    def _note(self, who: Speaker, text: str) -> None:
        masked = mask(text)
        self.said.append(Said(who, masked))
        self.record("said", who=who, text=masked)
