"""Every incident as a fresh investigation: in parallel, with a time-out; a crash fails its case, not the run."""

import multiprocessing
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.pool import Pool
from pathlib import Path
from time import monotonic
from types import FrameType

from ppagent.errors import PpagentError, UserError
from ppagent_evals.answer import Origin, read_answer, read_origin
from ppagent_evals.confidence import Confidence, confidences_of
from ppagent_evals.scorer import Document, Score, score

Diagnose = Callable[[Path], Document]
"""A brain: from a recording to the document of `diagnose --format json`."""

_ENDING = (signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class CaseResult:
    """One incident, run once."""

    id: str
    origin: Origin
    score: Score | None
    """None where the run crashed or took too long; `error` then says so."""
    seconds: float
    error: str = ""
    verdict: str = ""
    supported: tuple[str, ...] = ()
    confidences: tuple[Confidence, ...] = ()
    repeat: int = 0
    """Which run of the same case this is, from 0."""
    calls: int = 0
    """Questions asked of tools."""
    steps: int = 0
    tokens: int = 0
    usd: float = 0.0

    @property
    def passed(self) -> bool:
        return self.score is not None and self.score.passed


class _TookTooLong(Exception):
    pass


def find_incidents(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Every recording with an answer at or below `folders`, by name. Raises UserError where there is none."""
    found: dict[str, Path] = {}
    for folder in folders:
        answers = (
            [folder / "answer.yaml"] if (folder / "answer.yaml").is_file() else sorted(folder.rglob("*answer.yaml"))
        )
        for answer in answers:
            recording = answer.parent if answer.name == "answer.yaml" else _single_file(answer)
            if recording is not None:
                found[str(recording.resolve())] = recording
    if not found:
        places = ", ".join(map(str, folders))
        raise UserError(f"No recorded incident with an answer lies in {places}.", "Name a folder that holds some.")
    return tuple(sorted(found.values(), key=lambda path: path.name))


def _single_file(answer: Path) -> Path | None:
    """The log that `<name>.answer.yaml` belongs to: `<name>`, else `<name>.log`."""
    name = answer.name.removesuffix(".answer.yaml")
    return next((path for path in (answer.with_name(name), answer.with_name(name + ".log")) if path.is_file()), None)


def run_all(
    recordings: Sequence[Path], diagnose: Diagnose, *, workers: int, seconds: float, repeats: int = 1
) -> Iterator[CaseResult]:
    """Results as they come in, in no order; each case `repeats` times."""
    jobs = [(recording, diagnose, seconds, repeat) for repeat in range(repeats) for recording in recordings]
    if workers < 2:
        yield from map(_run_job, jobs)
        return
    with quiet_pool(workers) as pool:
        yield from pool.imap_unordered(_run_job, jobs)


@contextmanager
def quiet_pool(workers: int) -> Iterator[Pool]:
    """A pool whose workers end at a signal like any program: what their parent makes of signals, it does on its own.

    They are forked while the signals have their default, since one may be ended before it has run a line.
    """
    on_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, signal.SIG_DFL) for number in _ENDING} if on_main else {}
    try:
        pool = multiprocessing.get_context("fork").Pool(workers)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    with pool:
        yield pool


def _run_job(job: tuple[Path, Diagnose, float, int]) -> CaseResult:
    recording, diagnose, seconds, repeat = job
    return replace(run_case(recording, diagnose, seconds), repeat=repeat)


def run_case(recording: Path, diagnose: Diagnose, seconds: float) -> CaseResult:
    """One incident, scored. Whatever the diagnosis raises becomes the case's error."""
    answer, origin = read_answer(recording), read_origin(recording)
    started = monotonic()
    document, error = _diagnosed(recording, diagnose, seconds)
    took = monotonic() - started
    if document is None:
        return CaseResult(recording.name, origin, None, took, error)
    cost = document["cost"]
    return CaseResult(
        recording.name,
        origin,
        score(document, answer, recording),
        took,
        verdict=document["verdict"],
        supported=tuple(sorted(h["cause"] for h in document["hypotheses"] if h["state"] == "supported")),
        confidences=confidences_of(document, answer),
        calls=sum(cost["tool_calls"].values()),
        steps=cost.get("steps", 0),
        tokens=cost.get("tokens", 0),
        usd=cost.get("usd", 0.0),
    )


def _diagnosed(recording: Path, diagnose: Diagnose, seconds: float) -> tuple[Document | None, str]:
    """The diagnosis, or why there is none."""
    before = signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return diagnose(recording), ""
    except _TookTooLong:
        return None, f"took more than {seconds:g} s"
    except PpagentError as problem:
        return None, str(problem)
    except Exception:  # noqa: BLE001 - a crash of one case must not end the others; its last line is kept
        return None, traceback.format_exc().strip().splitlines()[-1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _alarm(_signal: int, _frame: FrameType | None) -> None:
    raise _TookTooLong
