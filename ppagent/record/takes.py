"""What is asked of one host, artifact by artifact, each masked and written as soon as it is there."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ppagent.errors import NotRecorded, PpagentError
from ppagent.record.commands import ALSO_RUN, ALSO_RUN_S, ON_THE_HOST, by_hand
from ppagent.record.folder import CannotWrite, Folder
from ppagent.record.log import recorded_log
from ppagent.record.masking import masked
from ppagent.record.outcome import Outcome
from ppagent.record.source import recorded_source
from ppagent.record.stack import architectures_of
from ppagent.targets.commanded import Commanded
from ppagent.targets.remote.scrape_remark import remark_of
from ppagent.targets.target import Artifact, Target

FIRST = (
    Artifact.LAUNCH,
    Artifact.VERSION,
    Artifact.SERVER_INFO,
    Artifact.PROCESSES,
    Artifact.ENVIRONMENT,
    Artifact.MODEL_CONFIG,
    Artifact.HOST,
    Artifact.PACKAGES,
    Artifact.TOPOLOGY,
    Artifact.DMESG,
)
"""What does not change while one looks. The log comes after it, then what is watched over time."""
LAST = (Artifact.GPUS, Artifact.GPU_PROCESSES, Artifact.LOADS)


@dataclass(frozen=True)
class Step:
    """One thing that is asked of every host, and what would give it by hand."""

    name: str
    take: Callable[[str], None]
    by_hand: Callable[[str], str] = lambda _host: ""


class Takes:
    """Everything a host can be asked for. `labels` names each host's folder."""

    def __init__(
        self, target: Target, folder: Folder, outcome: Outcome, labels: Mapping[str, str], port: int | None = None
    ) -> None:
        self.texts: dict[tuple[str, Artifact], str] = {}
        self.cuts: dict[str, tuple[str, ...]] = {}
        self._target = target
        self._folder = folder
        self._outcome = outcome
        self._labels = labels
        self._port = port
        self._live = target.kind != "recording"
        self._watching = False
        self._versions: set[str] = set()

    def steps(self) -> Iterator[Step]:
        """In the order in which they are taken."""
        for artifact in FIRST:
            yield self._plain(artifact)
        yield Step("source", self._source, lambda _host: ON_THE_HOST)
        if isinstance(self._target, Commanded):
            yield Step("further commands", self._further_commands)
        yield self._plain(Artifact.COMMANDS)
        yield Step(Artifact.SERVER_LOG.value, self._log, self._by_hand(Artifact.SERVER_LOG))
        yield Step("metrics", self._metrics, self._by_hand(None))
        for artifact in LAST:
            yield self._plain(artifact)
        if self._live:
            yield Step("the log's newest lines", self._log_again)

    def _plain(self, artifact: Artifact) -> Step:
        return Step(artifact.value, lambda host: self._text(host, artifact), self._by_hand(artifact))

    def _by_hand(self, artifact: Artifact | None) -> Callable[[str], str]:
        """By host, once its launch was read."""
        return lambda host: by_hand(artifact, self.texts.get((host, Artifact.LAUNCH), ""), self._port)

    def _text(self, host: str, artifact: Artifact) -> None:
        text = masked(artifact.value, self._target.text(host, artifact))
        if not text.strip():
            raise NotRecorded(f"{artifact.value} is empty")
        self.texts[host, artifact] = text
        self._write(host, artifact.value, text)

    def _log(self, host: str) -> None:
        name = Artifact.SERVER_LOG.value
        found = recorded_log(self._target.log(host))
        if not found.text.strip():
            raise NotRecorded("the log is empty")
        self._write(host, name, masked(name, found.text), *found.cuts)
        self.cuts[host] = found.cuts

    def _log_again(self, host: str) -> None:
        """With what was logged while metrics and cards were watched; the first reading is kept for a recording that is
        ended early, or whose connection is lost."""
        if host in self.cuts:
            self._log(host)

    def _metrics(self, host: str) -> None:
        if self._live and not self._watching:
            self._watching = True
            threading.Thread(target=self._sample_cards, name="ppagent-cards", daemon=True).start()
        scrapes = self._target.scrapes(host)
        sizes = [
            self._folder.write(self._place(host, f"metrics/{number}.prom"), masked("1.prom", text))
            for number, (_, text) in enumerate(scrapes, 1)
        ]
        remark = f"{len(scrapes)} scrapes" if len(scrapes) > 1 else "one scrape, which gives no rates"
        ended = remark_of(scrapes[-1][1]) if scrapes else ""
        self._outcome.add(self._labels[host], "metrics", sum(sizes), f"{remark}; {ended}" if ended else remark)

    def _sample_cards(self) -> None:
        """While /metrics is scraped, so that both are of one stretch of time; the target keeps what it was told."""
        with suppress(PpagentError):
            self._target.text(self._target.hosts[0], Artifact.GPUS)

    def _source(self, host: str) -> None:
        """Of hosts with one version only the first one's: eight copies would tell nothing new."""
        version = self.texts.get((host, Artifact.VERSION), "")
        if self._live and version and version in self._versions:
            return
        config = self.texts.get((host, Artifact.MODEL_CONFIG), "")
        found = recorded_source(self._target.source(host), architectures_of(config))
        sizes = self._whole_source(host, found.texts)
        remark = "1 file" if len(sizes) == 1 else f"{len(sizes)} files"
        remark += f", {len(found.left_out)} too large or not to be read" if found.left_out else ""
        self._outcome.add(self._labels[host], "source", sum(sizes), remark)
        self._versions.add(version)

    def _whole_source(self, host: str, texts: Mapping[str, str]) -> list[int]:
        """All of it or nothing: half of a package would be read as one that lacks flags."""
        try:
            return [
                self._folder.write(self._place(host, f"source/{path}"), masked(f"source/{path}", text))
                for path, text in texts.items()
            ]
        except (CannotWrite, KeyboardInterrupt):
            self._folder.take_out(self._place(host, "source"))
            raise

    def _further_commands(self, host: str) -> None:
        if isinstance(self._target, Commanded):
            for argv in ALSO_RUN:
                self._target.command(host, argv, ALSO_RUN_S)

    def _write(self, host: str, name: str, text: str, *remarks: str) -> None:
        size = self._folder.write(self._place(host, name), text)
        self._outcome.add(self._labels[host], name, size, "; ".join(remarks))

    def _place(self, host: str, name: str) -> str:
        return f"hosts/{self._labels[host]}/{name}"
