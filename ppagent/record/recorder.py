"""Asks a target for all that a recording can hold, and writes it down as it comes."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

from ppagent import __version__
from ppagent.errors import NotRecorded, PpagentError, ToolError
from ppagent.record.folder import CannotWrite, Folder
from ppagent.record.incident import Incident, Words, name_of, read_incident
from ppagent.record.labels import labels
from ppagent.record.masking import masked
from ppagent.record.outcome import End, Outcome
from ppagent.record.stack import stack_of
from ppagent.record.takes import Step, Takes
from ppagent.targets.files import read_text
from ppagent.targets.recording import ENDED_EARLY, Recording
from ppagent.targets.remote.link import LinkLost
from ppagent.targets.target import Artifact, Shared, Target

Watch = Callable[[str], None]


class Recorder:
    """One recording. `watch` is told what is being asked; `window_s` is how long changing things are watched."""

    def __init__(
        self, target: Target, folder: Folder, words: Words, *, window_s: float, watch: Watch, port: int | None = None
    ) -> None:
        self._target = target
        self._folder = folder
        self._words = words
        self._window_s = window_s
        self._watch = watch
        self._labels = labels(target.hosts)
        self._lost: dict[str, str] = {}
        self._live = target.kind != "recording"
        self._before = read_incident(_shared(target, Shared.INCIDENT))
        self._outcome = Outcome()
        self._takes = Takes(target, folder, self._outcome, self._labels, port)

    def record(self) -> Outcome:
        """Writes what the target gives. Ctrl-C and a full disk end it early; what is written by then stays, and
        incident.yaml says what is missing."""
        try:
            with self._folder.room_kept() as free:
                return self._record(free)
        except CannotWrite as error:
            self._ended(End.UNWRITTEN, str(error))
            return self._outcome

    def _record(self, free: Callable[[], None]) -> Outcome:
        """`free` makes room for the last word."""
        pending = [(step, host) for step in self._takes.steps() for host in self._target.hosts]
        try:
            self._write_incident()
            while pending:
                self._take(*pending[0])
                del pending[0]
            self._deployment()
            if self._lost:
                self._ended(End.LOST, "; ".join(self._lost.values()))
        except KeyboardInterrupt:
            self._ended(End.CANCELLED, "cancelled")
        except CannotWrite as error:
            self._ended(End.UNWRITTEN, str(error))
        for step, host in pending:
            self._outcome.lack(self._labels[host], step.name, f"not asked for: {self._outcome.why}", step.by_hand(host))
        free()
        with suppress(CannotWrite):  # said already, and the one that was written at the beginning stands
            self._write_incident()
        return self._outcome

    def _take(self, step: Step, host: str) -> None:
        """Takes a step. A host whose connection is gone is not asked again: each question would wait in vain."""
        label = self._labels[host]
        if host in self._lost:
            self._outcome.lack(label, step.name, self._lost[host], step.by_hand(host))
            return
        self._watch(f"{step.name} of {label}")
        try:
            step.take(host)
        except CannotWrite:
            raise
        except PpagentError as error:
            if isinstance(error, LinkLost):
                self._lost[host] = str(error)
            self._not_had(step, host, error)

    def _not_had(self, step: Step, host: str, error: PpagentError) -> None:
        label = self._labels[host]
        match error:
            case NotRecorded() if not self._live:
                self._outcome.absent.append(f"{label} {step.name}")
            case NotRecorded() if step.name == Artifact.COMMANDS.value:
                return
            case _:
                self._outcome.lack(label, step.name, str(error), step.by_hand(host))

    def _deployment(self) -> None:
        """What belongs to no host."""
        for name in (Shared.BENCH.value, "relaunches.jsonl", "answer.yaml"):
            try:
                text = self._of_deployment(name)
            except NotRecorded:
                continue
            except ToolError as error:
                self._outcome.lack("", name, str(error))
                continue
            self._outcome.add("", name, self._folder.write(name, masked(name, text)))
        if isinstance(self._target, Recording) and any(self._target.root.glob("hosts/*/traces/*")):
            self._outcome.lack("", "traces", "they are no text, so that nothing could be masked in them")

    def _of_deployment(self, name: str) -> str:
        if isinstance(self._target, Recording):
            return read_text(self._target.root, name)
        if name == Shared.BENCH.value:
            return self._target.shared(Shared.BENCH)
        raise NotRecorded(f"{name} was not recorded")

    def _write_incident(self) -> None:
        name, stack = name_of(self._folder.root), stack_of(self._takes.texts)
        incident = Incident(name, self._words, stack, self._notes(), self._before)
        self._folder.write(Shared.INCIDENT.value, incident.text())

    def _notes(self) -> list[str]:
        read = self._takes.cuts.items()
        cuts = [f"server.log of {self._labels[host]}: {cut}." for host, found in read for cut in found]
        notes = [*cuts, *self._outcome.notes]
        if not self._live:
            return notes
        now = datetime.now(UTC).isoformat(timespec="seconds")
        head = f"Recorded by ppagent {__version__} at {now}; metrics and cards over {self._window_s:g} s."
        lacks = [f"Not recorded: {each.name} of {each.host}: {each.why}." for each in self._outcome.lacks if each.host]
        return [head, *notes, *lacks]

    def _ended(self, end: End, why: str) -> None:
        self._outcome.end, self._outcome.why = end, why
        self._outcome.notes.append(f"{ENDED_EARLY}{why.removesuffix('.')}.")


def _shared(target: Target, artifact: Shared) -> str:
    try:
        return target.shared(artifact)
    except ToolError:  # without one, one is made
        return ""
