"""One live host: everything a recording would hold of it, fetched when it is first asked for."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.masking import mask
from ppagent.targets.files import join_text
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.forms import environment_text, launch_text, masked_words, processes_text, titles
from ppagent.targets.remote.gpus import Cards, sample_cards
from ppagent.targets.remote.host_forms import host_text, kernel_text, packages_text, topology_text
from ppagent.targets.remote.inside import interpreter
from ppagent.targets.remote.inspection import Inspection, inspect_server
from ppagent.targets.remote.link import Link, Ran, run
from ppagent.targets.remote.log_place import LogPlace, log_place
from ppagent.targets.remote.log_stream import read_log
from ppagent.targets.remote.once import Once
from ppagent.targets.remote.processes import outputs_of_others, parents_of, read_processes
from ppagent.targets.remote.reach import reach
from ppagent.targets.remote.sections import Sections, run_sections, script
from ppagent.targets.remote.servers import Server, choose, find_servers
from ppagent.targets.remote.source_tree import RemoteSource
from ppagent.targets.target import Artifact

if TYPE_CHECKING:
    from ppagent.targets.remote.answers import Answers

SURVEY_S = 60.0


@dataclass(frozen=True)
class Windows:
    """For how long things that change are watched."""

    cpu_s: float = 1.0
    gpu_s: float = 10.0
    scrapes: int = 3
    scrape_gap_s: float = 5.0


USUAL = Windows()


class LiveHost:
    """One host and the server on it. `port` chooses among servers; `ask` asks a person for an API key."""

    def __init__(
        self, link: Link, *, port: int | None = None, windows: Windows = USUAL, ask: AskSecret | None = None
    ) -> None:
        self.link = link
        self._port = port
        self._windows = windows
        self._ask = ask
        self._once = Once()
        self._commands: list[str] = []

    @property
    def server(self) -> Server:
        """The server that is meant. Raises UserError where several may be, NotRecorded where none can be seen."""
        return self._once.get("server", self._server)

    @property
    def who(self) -> str:
        """The account that looks."""
        return self._survey["who"].text.strip() if "who" in self._survey else "this account"

    def text(self, artifact: Artifact) -> str:
        """A whole artifact. Raises NotRecorded and ToolError."""
        if artifact is Artifact.SERVER_LOG:
            return join_text(self.log(), artifact.value)
        if artifact is Artifact.COMMANDS:
            return self._commands_text()
        return self._once.get(artifact, lambda: self._make(artifact))

    def log(self) -> Iterator[bytes]:
        """The log's lines, fetched anew each time."""
        return read_log(self.link, self._log_place)

    def scrapes(self) -> tuple[tuple[str, str], ...]:
        windows = self._windows
        return self._once.get("scrapes", lambda: self._answers.scrapes(windows.scrapes, windows.scrape_gap_s))

    def source(self) -> RemoteSource:
        return self._once.get("source", self._source)

    def places(self) -> tuple[str, ...]:
        """Files and folders that belong to the server: its package, its model, its log. What cannot be told is not
        among them."""
        found: list[str] = []
        with suppress(ToolError):
            model = PurePosixPath(self._inspection.model_place).parent
            found += [self._inspection.package, str(model).partition("/snapshots/")[0]]
        with suppress(ToolError):
            found.append(self._log_place.shown)
        return tuple(place for place in found if place.startswith("/") and place != "/")

    def command(self, argv: Sequence[str], timeout_s: float) -> Ran:
        """Runs one more command and notes it down for commands.jsonl."""
        ran = run(self.link, argv, timeout_s=timeout_s, limit=1 << 20)
        row = {
            "argv": masked_words(argv),
            "exit": ran.exit,
            "stdout": mask(ran.text),
            "stderr": mask(ran.stderr.decode("utf-8", errors="replace")),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        self._commands.append(json.dumps(row, ensure_ascii=False))
        return ran

    def close(self) -> None:
        self.link.close()

    @property
    def _survey(self) -> Sections:
        window = f"{self._windows.cpu_s:g}"
        return self._once.get(
            "survey", lambda: run_sections(self.link, script("survey.sh"), window, timeout_s=SURVEY_S)
        )

    @property
    def _log_place(self) -> LogPlace:
        return self._once.get("log", lambda: log_place(self.server, outputs_of_others(self._survey), self.who))

    @property
    def _inspection(self) -> Inspection:
        return self._once.get("inspection", lambda: inspect_server(self.link, self.server, self.who))

    @property
    def _answers(self) -> "Answers":
        return self._once.get("answers", lambda: reach(self.link, self._port, lambda: self.server, self._ask))

    @property
    def _cards(self) -> Cards:
        return self._once.get("cards", self._sample)

    def _server(self) -> Server:
        survey = self._survey
        listening = survey["listening"].text if "listening" in survey else ""
        found = find_servers(read_processes(survey), parents_of(survey), listening)
        return choose(found, self._port, self.link.name)

    def _seen_server(self) -> Server | None:
        """The server where it can be seen; what is not of its own can be read without it."""
        try:
            return self.server
        except NotRecorded:
            return None

    def _sample(self) -> Cards:
        server = self._seen_server()
        return sample_cards(self.link, server, titles(server) if server else {}, self._windows.gpu_s)

    def _make(self, artifact: Artifact) -> str:
        match artifact:
            case Artifact.LAUNCH:
                return launch_text(self.server)
            case Artifact.PROCESSES:
                return processes_text(self.server)
            case Artifact.ENVIRONMENT:
                return environment_text(self.server, self.who)
            case Artifact.SERVER_INFO:
                return self._answers.server_info()
            case Artifact.LOADS:
                return self._answers.loads()
            case Artifact.GPUS:
                return self._cards.samples
            case Artifact.GPU_PROCESSES:
                return self._cards.processes
            case Artifact.TOPOLOGY:
                return topology_text(self._survey)
            case Artifact.HOST:
                return host_text(self._survey)
            case Artifact.DMESG:
                return kernel_text(self._survey, self.who)
            case _:
                return self._installed(artifact)

    def _installed(self, artifact: Artifact) -> str:
        found = self._inspection
        match artifact:
            case Artifact.VERSION:
                if not found.version:
                    raise NotRecorded(f"sglang is not installed for the Python of process {self.server.launcher.pid}")
                return f"{found.version}\n"
            case Artifact.PACKAGES:
                return packages_text(found.packages, found.torch_cuda, self._survey, None)
            case Artifact.MODEL_CONFIG:
                return found.config()
            case _:
                raise NotRecorded(f"{artifact.value} is nothing that a live host has")

    def _source(self) -> RemoteSource:
        found = self._inspection
        if not found.package:
            raise NotRecorded(f"sglang was not found by the Python of process {self.server.launcher.pid}")
        container = self.server.container
        inside = ("docker", "exec", "-i", container) if container else ()
        return RemoteSource(self.link, found.package, inside, interpreter(self.server))

    def _commands_text(self) -> str:
        if not self._commands:
            raise NotRecorded("no further command was run")
        return "\n".join((*self._commands, ""))
