"""One live host: everything a recording would hold of it, fetched when it is first asked for."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.files import join_text
from ppagent.targets.remote.ahead import LogAhead, in_background
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.choice import choose
from ppagent.targets.remote.command_log import CommandLog
from ppagent.targets.remote.containers import ended_in
from ppagent.targets.remote.forms import environment_text, launch_text, processes_text
from ppagent.targets.remote.gpu_owners import owners_of
from ppagent.targets.remote.gpus import Cards, numbered_as_on, sample_cards
from ppagent.targets.remote.host_forms import host_text, kernel_text, packages_text, topology_text
from ppagent.targets.remote.inside import interpreter
from ppagent.targets.remote.inspection import Inspection, inspect_server, no_package
from ppagent.targets.remote.link import Link, Ran
from ppagent.targets.remote.log_place import LogPlace, log_place
from ppagent.targets.remote.log_stream import read_log
from ppagent.targets.remote.once import Once
from ppagent.targets.remote.pods import pod_of
from ppagent.targets.remote.processes import outputs_of_others, parents_of, read_processes
from ppagent.targets.remote.reach import reach
from ppagent.targets.remote.sections import Sections
from ppagent.targets.remote.servers import Server, find_servers
from ppagent.targets.remote.source_tree import RemoteSource
from ppagent.targets.remote.survey import Survey
from ppagent.targets.target import Artifact

if TYPE_CHECKING:
    from ppagent.targets.remote.answers import Answers
    from ppagent.targets.remote.http_client import Way

_OVER_HTTP = (Artifact.SERVER_INFO, Artifact.LOADS)
_HOST, _HTTP = "host", "http"
"""What a look consists of."""


@dataclass(frozen=True)
class Windows:
    """For how long things that change are watched."""

    cpu_s: float = 1.0
    gpu_s: float = 10.0
    scrapes: int = 3
    scrape_gap_s: float = 5.0


USUAL = Windows()


class LiveHost:
    """One host and the server on it. `port` chooses among servers; `ask` asks a person for an API key.

    With `ahead`, the first question brings the rest on its way: what is watched for a while and what takes a round trip
    is then fetched side by side. A question over HTTP brings only what HTTP gives, since more may not be allowed.
    """

    def __init__(
        self,
        link: Link,
        *,
        port: int | None = None,
        windows: Windows = USUAL,
        ask: AskSecret | None = None,
        ahead: bool = False,
    ) -> None:
        self.link = link
        self._port = port
        self._windows = windows
        self._ask = ask
        self._once = Once()
        self._looked_at = Survey(link, windows.cpu_s)
        self._commands = CommandLog()
        self._log = LogAhead(lambda: read_log(self.link, self._log_place))
        self._to_begin = {_HOST, _HTTP} if ahead else set()

    @property
    def server(self) -> Server:
        """The server that is meant. Raises UserError where several may be, NotRecorded where none can be seen."""
        return self._once.get("server", lambda: self._server_of(self._looked_at.first))

    @property
    def who(self) -> str:
        """The account that looks."""
        survey = self._looked_at.first
        return survey["who"].text.strip() if "who" in survey else "this account"

    def text(self, artifact: Artifact) -> str:
        """A whole artifact. Raises NotRecorded and ToolError."""
        if artifact is Artifact.SERVER_LOG:
            return join_text(self.log(), artifact.value)
        if artifact is Artifact.COMMANDS:
            return self._commands.text()
        self.look(http_only=artifact in _OVER_HTTP)
        return self._once.get(artifact, lambda: self._make(artifact))

    def log(self) -> Iterator[bytes]:
        """The log's lines, fetched anew each time, but for what was fetched ahead."""
        self.look()
        return self._log.lines()

    def log_ahead(self) -> None:
        """Begins to fetch the log for the next who asks for it."""
        self._log.begin()

    def scrapes(self) -> tuple[tuple[str, str], ...]:
        windows = self._windows
        self.look(http_only=True)
        return self._once.get("scrapes", lambda: self._answers.scrapes(windows.scrapes, windows.scrape_gap_s))

    def look(self, *, http_only: bool = False) -> None:
        """Begins to fetch what is still to be begun with."""
        if _HTTP in self._to_begin:
            self._to_begin.discard(_HTTP)
            in_background(self._look_over_http)
        if _HOST in self._to_begin and not http_only:
            self._to_begin.discard(_HOST)
            self._log.begin()
            in_background(lambda: self._inspection, lambda: self._cards)

    def way(self) -> "Way":
        """The way to the server's HTTP that was found to lead there. Raises ToolError."""
        return self._answers.way()

    @property
    def typed_key(self) -> str:
        """The server's API key where a person was asked for it before; empty otherwise."""
        return self._answers.typed_key

    def source(self) -> RemoteSource:
        self.look()
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
        return self._commands.run(self.link, argv, timeout_s)

    def close(self) -> None:
        self.link.close()

    @property
    def _survey(self) -> Sections:
        return self._looked_at.whole

    @property
    def _log_place(self) -> LogPlace:
        return self._once.get("log", self._find_log)

    @property
    def _inspection(self) -> Inspection:
        return self._once.get("inspection", lambda: inspect_server(self.link, self.server, self.who))

    @property
    def _answers(self) -> "Answers":
        return self._once.get("answers", lambda: reach(self.link, self._port, lambda: self.server, self._ask))

    @property
    def _cards(self) -> Cards:
        return self._once.get("cards", self._sample)

    def _server_of(self, survey: Sections) -> Server:
        listening = survey["listening"].text if "listening" in survey else ""
        found = find_servers(read_processes(survey), parents_of(survey), listening)
        return choose(found, self._port, self.link.name, ended_in(survey))

    def _look_over_http(self) -> None:
        """Nobody is asked for a key meanwhile: whoever wants an answer that needs one asks for it then."""
        self._answers.begin()
        if self._answers.gives_metrics:
            self.scrapes()

    def _find_log(self) -> LogPlace:
        survey = self._looked_at.first
        survey.must_have("links")
        return log_place(self.server, outputs_of_others(survey), self.who, pod_of(self.server, survey))

    def _seen_server(self) -> Server | None:
        """The server where it can be seen; what is not of its own can be read without it."""
        try:
            return self.server
        except NotRecorded:
            return None

    def _sample(self) -> Cards:
        server = self._seen_server()
        cards = sample_cards(self.link, server, owners_of(server, self._looked_at.first), self._windows.gpu_s)
        return cards if server is None or not server.container else numbered_as_on(self._survey, cards)

    def _make(self, artifact: Artifact) -> str:
        match artifact:
            case Artifact.LAUNCH:
                return launch_text(self.server)
            case Artifact.PROCESSES:
                return processes_text(self._server_of(self._survey))
            case Artifact.ENVIRONMENT:
                self._looked_at.first.must_have("variables")
                return environment_text(self.server, self.who)
            case Artifact.SERVER_INFO:
                return self._of_api(lambda: self._answers.server_info())
            case Artifact.LOADS:
                return self._of_api(lambda: self._answers.loads())
            case Artifact.GPUS:
                return self._cards.samples
            case Artifact.GPU_PROCESSES:
                return self._cards.who()
            case Artifact.TOPOLOGY:
                return topology_text(self._survey)
            case Artifact.HOST:
                return host_text(self._survey)
            case Artifact.DMESG:
                return kernel_text(self._survey, self.who)
            case _:
                return self._installed(artifact)

    def _of_api(self, ask: Callable[[], str]) -> str:
        """An answer of the server; where it has none, that this is no wonder on any node but the first (0.5.23,
        `launch_dummy_health_check_server` of `srt/utils/common.py`). Nothing is run on the host to find that out."""
        try:
            return ask()
        except NotRecorded as error:
            server = self._once.held("server")
            if server is None or not server.node_rank:
                raise
            raise NotRecorded(
                f"{self.link.name} is node {server.node_rank}, which serves no API: node 0 answers for all"
            ) from error

    def _installed(self, artifact: Artifact) -> str:
        found = self._inspection
        match artifact:
            case Artifact.VERSION:
                if not found.version:
                    raise no_package(self.server, self.who)
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
            raise no_package(self.server, self.who)
        return RemoteSource(self.link, found.package, self.server.enter, interpreter(self.server))
