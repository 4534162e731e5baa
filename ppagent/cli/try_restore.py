"""`ppagent try TARGET --restore`: what a trial that died left behind is put back."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ppagent.bench.control import Control
from ppagent.bench.endpoint import is_url, parse_endpoint
from ppagent.bench.reach import over, reach, through
from ppagent.cli.common import note
from ppagent.errors import ExitStatus, PpagentError
from ppagent.targets.live_host import LiveHost, Windows
from ppagent.targets.open_live import open_live
from ppagent.trials.bring_back import bring_back, keeper_in
from ppagent.trials.change import restore
from ppagent.trials.look_again import SHORT_LOOK_S
from ppagent.trials.note import RestoreNote, all_notes, read_note, remove_note
from ppagent.trials.serving import answers

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link


def run_restore(args: argparse.Namespace) -> int:
    """Undoes what is left behind on the target. Raises ToolError where that fails; the note stays then."""
    died = [left for left in all_notes() if left.kind == "relaunch" and left.launch.get("target") == args.target]
    if died:
        return _old_launch(args, died[0])
    reached = reach(args.target, args.port, os.environ)
    try:
        left = read_note(reached.name)
        if left is None:
            note(f"nothing is left behind on {reached.name}.")
            return ExitStatus.OK
        sys.stdout.write(f"{restore(left, reached.control)}\n")
        return ExitStatus.OK
    finally:
        reached.close()


def _old_launch(args: argparse.Namespace, left: RestoreNote) -> int:
    """The server may be down, so it is not looked for: the note says what to start, and where."""
    target = open_live("local" if is_url(args.target) else args.target)
    try:
        link = target.live_host(target.hosts[0]).link
        with _serving(left, link) as serves:
            done = bring_back(left, keeper_in(left.launch, link), serves, args.max_seconds, note)
    finally:
        target.close()
    remove_note(left.server)
    sys.stdout.write(f"{done}\n")
    return ExitStatus.OK


@contextmanager
def _serving(left: RestoreNote, link: "Link") -> Iterator[Callable[[], bool]]:
    """Whether the server serves, which may not run yet. Where it listens, and by what its certificate is known, is told
    by its process."""
    from ppagent.bench.tunnel import Tunnel

    direct = is_url(left.server)
    port = parse_endpoint(left.server).port if direct else int(left.server.rpartition("/")[2])
    tunnels: dict[str, Tunnel] = {}

    def serves() -> bool:
        try:
            way = LiveHost(link, port=port, windows=Windows(cpu_s=SHORT_LOOK_S)).way()
        except PpagentError:  # the very question: nothing listens there, or nothing answers as SGLang does
            return False
        if direct:
            return answers(Control(over(parse_endpoint(left.server, os.environ), way.trust)))
        if way.address not in tunnels:
            tunnels[way.address] = Tunnel(link, way.address, port)
        return answers(Control(through(tunnels[way.address], os.environ, way.trust)))

    try:
        yield serves
    finally:
        for tunnel in tunnels.values():
            tunnel.close()
