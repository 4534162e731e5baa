"""Runs the bench_serving of a live server beside it: on its own host, with the Python of that very process.

So the way there adds nothing to any latency, and what measures is the version that serves. Nothing is written on the
host but a temporary folder, which is removed whatever happens; nothing is fetched.
"""

import json
import secrets
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from ppagent.bench.endpoint import Endpoint
from ppagent.bench.serving_output import Output
from ppagent.bench.serving_row import row_of
from ppagent.bench.serving_words import key_of, serving_words, time_limit_s
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError, UserError
from ppagent.evidence.masking import MASK
from ppagent.targets.remote.inside import module_paths, python_words
from ppagent.targets.remote.link import End, Link, LinkLost
from ppagent.targets.remote.servers import Server, option

if TYPE_CHECKING:
    from ppagent.targets.live_host import LiveHost

BESIDE = "beside the server"
MOST_KEPT = 64 << 20
_KEEP_UP = '{ cat; while sleep 1; do echo || exit; done 2>/dev/null; } | "$@"'
"""Standard input of what runs goes on as long as this shell: the end of it reaches into a container too, where no
signal does."""


@dataclass(frozen=True)
class Beside:
    """A server on its host, and what reaches it there. `tokenizer` is a path or a name on the host; empty for the
    server's own."""

    link: Link
    server: Server
    base_url: str
    key: str = ""
    tokenizer: str = ""

    @property
    def route(self) -> str:
        """Where it is measured from."""
        return BESIDE if self.link.kind == "local" else f"{BESIDE} on {self.link.name}"


def find_beside(host: "LiveHost", endpoint: Endpoint, tokenizer: str) -> Beside:
    """The server of a live host. Raises ToolError where no process of it can be seen, UserError where bench_serving
    cannot reach it."""
    server, way = host.server, host.way()
    if way.trust is not None:
        raise UserError(
            "The server speaks TLS, and bench_serving cannot be told what to trust at the address on its host.",
            "Measure without --with bench_serving: the load then goes through the tunnel and checks the certificate.",
        )
    # a container that is entered by its mounts alone is reached as its host reaches it
    address, port = server.listens if server.engine else (way.address, way.port)
    url = f"http://{f'[{address}]' if ':' in address else address}:{port}"
    return Beside(host.link, server, url, key_of(endpoint), tokenizer or _tokenizer(server))


def run_beside(beside: Beside, shape: Shape, requests: int, said: Output | None = None) -> dict[str, object]:
    """One level, as the row that bench_serving wrote; `said` takes what it says as it comes.

    Raises ToolError with the end of its output; LinkLost where the connection is lost, on which the host ends it.
    """
    mark = f"@@{secrets.token_hex(8)}"
    words = serving_words(beside.base_url, shape, requests)
    limit_s = time_limit_s(shape)
    go = ["sh", "-c", _KEEP_UP, "ppagent", *python_words(beside.server, _program())]
    output, errors = bytearray(), said or Output()
    with closing(beside.link.start(go, timeout_s=limit_s, stdin=_asked(beside, words, mark))) as running:
        for is_error, piece in running.pieces():
            if is_error:
                errors.take(piece)
            elif len(output) < MOST_KEPT:
                output += piece
    match running.end:
        case End.LOST:
            raise LinkLost(f"the connection to {beside.link.name} is lost; bench_serving is ended there")
        case End.TIMED_OUT:
            raise ToolError(f"bench_serving did not end within {limit_s:.0f} s on {beside.link.name}")
    _, found, row = output.decode("utf-8", errors="replace").partition(mark)
    if running.exit != 0 or not found:
        raise ToolError(f"bench_serving failed on {beside.link.name}: {errors.end or running.exit}")
    return row_of(row, beside.route)


def _asked(beside: Beside, words: list[str], mark: str) -> bytes:
    """What the program on the host reads first."""
    launcher = beside.server.launcher
    env = {name: value for name, value in launcher.env.items() if MASK not in value}
    asked = {"words": words, "env": env, "paths": module_paths(beside.server), "cwd": launcher.cwd}
    asked |= {"tokenizer": beside.tokenizer, "key": beside.key, "mark": mark}
    return json.dumps(asked).encode() + b"\n"


def _program() -> str:
    return resources.files("ppagent.bench").joinpath("serving_on_host.py").read_text(encoding="utf-8")


def _tokenizer(server: Server) -> str:
    """What the server itself loads it from: older versions would look for one under the name that it serves."""
    names = ("--tokenizer-path", "--model-path", "--model")
    return next((value for name in names if (value := option(server.launcher.cmdline, name))), "")
