"""A live deployment: one or several hosts, read side by side, each artifact when it is first asked for."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any

from ppagent.errors import NotRecorded, PpagentError, ToolError, UserError
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.link import Ran
from ppagent.targets.target import Artifact, Shared, SourceTree

_NOT_OF_A_SERVER = {
    Shared.INCIDENT: "nothing was stated beside the question",
    Shared.BENCH: "a live server keeps no benchmark results; ppagent bench measures some",
    Shared.RELAUNCHES: "a live server keeps no results of other settings; ppagent try measures some",
}


class LiveTarget:
    """Hosts by label. One that could not be reached stands with the reason in its place: all it is asked for is
    missing."""

    def __init__(
        self, hosts: Mapping[str, LiveHost | UserError], kind: str, named: str = "", port: int | None = None
    ) -> None:
        """`named`: what the user named, by which it can be opened once more; `port`: the one that was chosen."""
        self.kind = kind
        self.named = named
        self.port = port
        self.name = ",".join(hosts)
        self._hosts = dict(hosts)
        self._logs_read: Counter[str] = Counter()

    @property
    def words(self) -> str:
        """As `Named` has it."""
        return f"{self.named} --port {self.port}" if self.named and self.port else self.named

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """Labels, the host with pipeline stage 0 first: by the node rank of the launch, then as the user named them."""
        labels = list(self._hosts)
        if len(labels) == 1:
            return tuple(labels)
        self._side_by_side(lambda host: host.server)
        return tuple(sorted(labels, key=lambda label: (self._node_rank(label), labels.index(label))))

    def text(self, host: str, artifact: Artifact) -> str:
        if artifact is Artifact.SERVER_LOG:
            return self._host(host).text(artifact)
        self._side_by_side(lambda each: each.text(artifact))
        return self._host(host).text(artifact)

    def log(self, host: str) -> Iterator[bytes]:
        """One host's; the logs of the others are fetched meanwhile, as they will be asked for next."""
        asked = self._host(host)
        if len(self._hosts) > 1:
            times = self._logs_read[host]
            for label, other in self._hosts.items():
                if isinstance(other, LiveHost) and self._logs_read[label] <= times:
                    other.log_ahead()
            self._logs_read[host] += 1
        return asked.log()

    def scrapes(self, host: str) -> tuple[tuple[str, str], ...]:
        self._side_by_side(lambda each: each.scrapes())
        return self._host(host).scrapes()

    def source(self, host: str) -> SourceTree:
        return self._host(host).source()

    def shared(self, artifact: Shared) -> str:
        raise NotRecorded(_NOT_OF_A_SERVER[artifact])

    def command(self, host: str, argv: Sequence[str], timeout_s: float) -> Ran:
        return self._host(host).command(argv, timeout_s)

    def places(self, host: str) -> tuple[str, ...]:
        return self._host(host).places()

    def look(self) -> None:
        """Begins to read, on all hosts at once, what most questions will be about."""
        for host in self._hosts.values():
            if isinstance(host, LiveHost):
                host.look()

    def live_host(self, host: str) -> LiveHost:
        """The host behind a label, for more than reading from it: a load, a restart. Raises ToolError."""
        return self._host(host)

    def close(self) -> None:
        """Ends every connection, and with them whatever still runs on the hosts."""
        for host in self._hosts.values():
            if isinstance(host, LiveHost):
                host.close()

    def _host(self, label: str) -> LiveHost:
        found = self._hosts.get(label)
        if isinstance(found, LiveHost):
            return found
        if found is None:
            raise ToolError(f"there is no host {label!r} in {self.name}")
        raise ToolError(f"{found.wrong} {found.advice}")

    def _node_rank(self, label: str) -> float:
        try:
            return self._host(label).server.node_rank
        except ToolError:
            return float("inf")

    def _side_by_side(self, ask: Callable[[LiveHost], Any]) -> None:
        """Asks all hosts at once; what each says is kept there, be it an answer or the reason why there is none."""
        hosts = [host for host in self._hosts.values() if isinstance(host, LiveHost)]
        if len(hosts) < 2:
            return
        pool = ThreadPoolExecutor(len(hosts), thread_name_prefix="ppagent-host")
        try:
            for done in [pool.submit(ask, host) for host in hosts]:
                with suppress(PpagentError):
                    done.result()
        except BaseException:
            self.close()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
