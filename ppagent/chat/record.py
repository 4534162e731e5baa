"""The target of a session as a recording, written by what `ppagent record` is made of.

A live target is recorded afresh, over a connection of its own: what the session has read of it was of other moments. A
recording, a log or pasted text is copied. What was measured and said in the session goes with it.
"""

from pathlib import Path

from ppagent.chat.gone import Gone
from ppagent.chat.measures import with_measures
from ppagent.chat.session import Session
from ppagent.chat.wording import duration
from ppagent.errors import UserError
from ppagent.record.apart import must_lie_apart
from ppagent.record.folder import prepare
from ppagent.record.incident import Words
from ppagent.record.outcome import End, Lack, Outcome
from ppagent.record.recorder import Recorder
from ppagent.report.lines import Line, wrapped
from ppagent.targets.live_host import USUAL
from ppagent.targets.open import open_target
from ppagent.targets.target import Target

ABOUT_S = USUAL.gpu_s + USUAL.scrapes * USUAL.scrape_gap_s
"""What the recording of a live server takes, most of it spent watching metrics and cards."""
MOST_LACKS = 6
MENDS_ITSELF = frozenset(("commands.jsonl", "dmesg.txt"))
"""What hardly any server has and nobody misses."""


def record_target(session: Session, root: Path) -> Outcome:
    """Writes the recording. Ctrl-C ends it early, and what is written by then stays. Raises UserError where the folder
    is used or overlaps what it is a copy of, and where the target is not there any more."""
    known = session.desk.context.target
    if isinstance(known, Gone):
        raise UserError(
            f"{known.name} is not there any more, so it cannot be recorded.", "/export FILE.md writes what was found."
        )
    must_lie_apart(known, root)
    if not session.live:
        return _recorded(session, known, root)
    target = open_target(session.target_text, port=session.port)
    try:
        return _recorded(session, target, root)
    finally:
        getattr(target, "close", lambda: None)()


def said_before(session: Session) -> str:
    """What is about to be done, in words."""
    name = session.desk.context.target.name
    return f"recording {name} afresh, expected {duration(ABOUT_S)} or more" if session.live else f"copying {name}"


def outcome_lines(outcome: Outcome, root: Path, live: bool, width: int) -> list[Line]:
    """What was written, where, and what is missing in it."""
    hosts = dict.fromkeys(got.host for got in outcome.got if got.host)
    what = f"{len(outcome.got)} artifacts of {', '.join(hosts) or 'no host'}"
    how = f"recorded afresh, metrics and cards over {USUAL.gpu_s:g} s" if live else "copied"
    lines = wrapped(f"{what}, {how}, secrets masked, are in", width, "  ")
    lines.append(Line(f"  {root}", "command"))
    if outcome.end is not End.FINISHED:
        lines += wrapped(f"It ended early ({outcome.why.removesuffix('.')}); what is in it is whole.", width, "  ")
    for lack in [each for each in outcome.lacks if each.name not in MENDS_ITSELF][:MOST_LACKS]:
        lines += _lacking(lack, width)
    return lines


def _lacking(lack: Lack, width: int) -> list[Line]:
    where = f"{lack.name} of {lack.host}" if lack.host else lack.name
    return wrapped(f"{where}: {' '.join(lack.why.split())}", width, "  lacking   ", tone="dim")


def _recorded(session: Session, target: Target, root: Path) -> Outcome:
    folder = prepare(root, force=False)
    recorder = Recorder(target, folder, _words(session), window_s=USUAL.gpu_s, watch=_unwatched, port=session.port)
    outcome = recorder.record()
    if outcome.end is not End.UNWRITTEN:
        with_measures(session.desk.ledger.evidence, folder, outcome)
    return outcome


def _words(session: Session) -> Words:
    """The user's statements: the first is the question, the others are facts that no artifact holds."""
    first, *others = session.words or [""]
    return Words(first, "", tuple(others))


def _unwatched(sentence: str) -> None:
    """The moving line says already what is being done."""
