"""Commands that act on a live server: load it, try a change."""

import re
from typing import Any

from ppagent.changes.proposal import Proposal
from ppagent.chat.answers.measured import level_lines, trial_lines
from ppagent.chat.answers.setting import read_setting
from ppagent.chat.commands.command import Command
from ppagent.chat.doing import NOT_RUN, do
from ppagent.chat.looking import know
from ppagent.chat.lookout import look_out
from ppagent.chat.session import Session
from ppagent.errors import UserError
from ppagent.report.lines import Line

BENCH, LIMIT, RELAUNCH = "bench.run", "tune.set_limit", "tune.relaunch"
LIVE_KEYS = ("--pp-max-micro-batch-size", "--max-micro-batch-size")
THROUGHPUT = "output_throughput"
_PROPOSAL = re.compile(r"\bP\d{1,2}\b", re.I)
_NUMBERS = re.compile(r"\d+(?:\s*,\s*\d+)*")
_TOKENS = re.compile(r"(\d+)(?:\s*-\s*(\d+))?\s*tok(?:ens?)?\b", re.I)
BENCH_FORM = "/bench 1,4,8 20s 16-32 tokens"
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)\s*s(?:ec\w*)?\b", re.I)


def bench(session: Session, words: str) -> None:
    """Loads the server and measures; the levels become evidence."""
    rest, arguments = _load(words)
    arguments["beside_others"] = True  # whoever asks for it here knows who else is served
    counts = _NUMBERS.fullmatch(rest)
    if rest and counts is None:
        raise UserError(f"/bench does not know what to make of {rest}.", f"Write {BENCH_FORM}.")
    arguments |= {"concurrency": [int(n) for n in counts.group().split(",")]} if counts else {}
    found = do(session, BENCH, arguments, "you asked for it")
    session.say(level_lines(found, session.screen.width) if found else [Line(NOT_RUN)])


def try_change(session: Session, words: str) -> None:
    """Tries a proposal or a slot limit: before and after, and back."""
    know(session)
    rest, load = _load(words)
    tool, arguments, why = _what(session, rest)
    arguments |= load
    found = do(session, tool, arguments, why)
    session.say(trial_lines(found, session.screen.width) if found else [Line(NOT_RUN)])
    if found and tool == RELAUNCH:
        look_out(session)


def _load(words: str) -> tuple[str, dict[str, Any]]:
    """How long to measure (20s) and how long answers are to be (16-32 tokens), and the words without them."""
    seconds, tokens = _SECONDS.search(words), _TOKENS.search(words)
    arguments: dict[str, Any] = {"seconds": float(seconds[1])} if seconds else {}
    if tokens:
        arguments["output_tokens"] = [int(tokens[1]), int(tokens[2] or tokens[1])]
    return _TOKENS.sub("", _SECONDS.sub("", words)).strip(" ,"), arguments


def _what(session: Session, words: str) -> tuple[str, dict[str, Any], str]:
    """The tool that tries it, its arguments, and why."""
    setting = read_setting(words)
    if setting.limit is not None:
        load = {"concurrency": setting.concurrency} if setting.concurrency is not None else {}
        return LIMIT, {"limit": setting.limit, **load}, "you asked for it"
    named = _PROPOSAL.search(words)
    if words and named is None:
        raise UserError(f"/try does not know what to make of {words}.", "Write /try P1, /try P2 C=16, or /try limit 2.")
    proposal = _proposal(session, named.group().upper() if named is not None else "")
    why = f"{proposal.id} proposes it against {' '.join(proposal.causes)}"
    if proposal.kind == "live":
        return LIMIT, {"limit": _limit(proposal), **_foreseen(proposal, setting.concurrency)}, why
    change = proposal.change
    wanted = {"set": dict(change.set), "unset": list(change.unset), "env": dict(change.env)}
    return RELAUNCH, {**wanted, "causes": list(proposal.causes), **_foreseen(proposal, setting.concurrency)}, why


def _foreseen(proposal: Proposal, concurrency: int | None) -> dict[str, Any]:
    """The load of the measurement, and the forecast where it is for that load: it goes on record before the trial. Of a
    load that nobody names it is measured at the forecast's."""
    made = proposal.predicted
    if made is None or made.metric != THROUGHPUT or concurrency not in (None, made.at_concurrency):
        return {"concurrency": concurrency} if concurrency is not None else {}
    figures = {"baseline": made.baseline, "low": made.low, "high": made.high}
    return {"concurrency": int(made.at_concurrency), "predicted": figures}


def _proposal(session: Session, wanted: str) -> Proposal:
    """The proposal that is named, else the first that can be tried live."""
    known = [p for p in session.found().plan.proposals if p.kind != "operator"]
    chosen = [p for p in known if p.id == wanted] if wanted else [p for p in known if p.kind == "live"]
    if not chosen:
        ids = " ".join(proposal.id for proposal in known)
        there = f"Proposed: {ids}." if ids else "Nothing is proposed."
        raise UserError(f"There is no {wanted or 'live change'} to try.", f"{there} A limit of your own: /try limit 2.")
    return chosen[0]


def _limit(proposal: Proposal) -> int:
    values = [value for flag, value in proposal.change.set.items() if flag in LIVE_KEYS and value.isdecimal()]
    if not values:
        raise UserError(
            f"{proposal.id} is no slot limit, which is all that can be tried live.", "/copy takes it whole."
        )
    return int(values[0])


COMMANDS = (
    Command(
        "bench",
        "[1,4,8] [20s] [16-32 tokens]",
        "Loads the live server with so many requests at a time, so long each, and takes what it measures as evidence.",
        bench,
    ),
    Command(
        "try",
        "[P1|limit 2] [20s] [16-32 tokens]",
        "Tries a change on the live server, before and after, and puts it back unless it is a better launch.",
        try_change,
        "proposals",
    ),
)
