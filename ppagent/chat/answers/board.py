"""The board: every cause with its state."""

from ppagent.agent.board import Board, Hypothesis
from ppagent.agent.investigation import Investigation
from ppagent.chat.answers.cause import STATES, TONES
from ppagent.report.lines import Line, wrapped

MOST_OPEN = 6
NARROWEST_CITES = 12
"""Columns that ids take beside a cause; where there are less they stand below it."""


def board_lines(found: Investigation, width: int) -> list[Line]:
    """Supported causes and the likeliest open ones a line each, the others by their ids."""
    board = found.board
    undecided = sorted(_undecided(board), key=lambda h: -h.judgement.confidence)
    shown = [*board.supported, *undecided[:MOST_OPEN]]
    names = max((len(h.judgement.cause.name) for h in shown), default=0)
    lines = [Line(f"  {len(board.hypotheses)} causes, {len(found.evidence)} pieces of evidence", "dim")]
    for hypothesis in shown:
        lines += _row(hypothesis, names, width)
    for label, rest in (("also open", undecided[MOST_OPEN:]), ("ruled out", board.in_state("refuted"))):
        ids = " ".join(h.cause_id for h in rest)
        lines += wrapped(ids, width, f"  {label:<13}", tone="dim") if ids else []
    if board.hypotheses:
        lines.append(Line(f"  /why {(*shown, *board.hypotheses)[0].cause_id} tells one of them", "dim"))
    return lines


def _row(hypothesis: Hypothesis, names: int, width: int) -> list[Line]:
    judgement = hypothesis.judgement
    state, name = f"  {STATES[hypothesis.state]:<13}{hypothesis.id:<4}{hypothesis.cause_id}  ", judgement.cause.name
    cites = " ".join(dict.fromkeys(c for o in (judgement.because or judgement.against) for c in o.cites))
    tone = TONES[hypothesis.state]
    start = f"{state}{name:<{names}}  {judgement.confidence:.2f}  "
    if len(start) + NARROWEST_CITES <= width:
        return wrapped(cites, width, start, tone=tone)
    lines = wrapped(f"{name}  {judgement.confidence:.2f}", width, state, " " * 6, tone=tone)
    return [*lines, *wrapped(cites, width, " " * 6, tone=tone)] if cites else lines


def _undecided(board: Board) -> tuple[Hypothesis, ...]:
    return board.in_state("open") + board.in_state("cannot_tell")
