"""`ppagent try TARGET --restore`: what a trial that died left behind is put back."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ppagent.bench.control import Control
from ppagent.bench.endpoint import is_url, parse_endpoint
from ppagent.bench.reach import reach
from ppagent.cli.common import note
from ppagent.errors import ExitStatus
from ppagent.targets.live import LiveTarget
from ppagent.targets.open_live import open_live
from ppagent.trials.bring_back import bring_back, keeper_in
from ppagent.trials.change import restore
from ppagent.trials.note import RestoreNote, all_notes, read_note, remove_note
from ppagent.trials.serving import answers


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
        host = target.live_host(target.hosts[0])
        with _control(left, target) as control:
            done = bring_back(left, keeper_in(left.launch, host.link), lambda: answers(control), args.max_seconds, note)
    finally:
        target.close()
    remove_note(left.server)
    sys.stdout.write(f"{done}\n")
    return ExitStatus.OK


@contextmanager
def _control(left: RestoreNote, target: LiveTarget) -> Iterator[Control]:
    """HTTP to a server that may not run yet."""
    if is_url(left.server):
        yield Control(parse_endpoint(left.server, os.environ))
        return
    from ppagent.bench.tunnel import Tunnel

    tunnel = Tunnel(target.live_host(target.hosts[0]).link, "127.0.0.1", int(left.server.rpartition("/")[2]))
    try:
        yield Control(parse_endpoint(f"http://127.0.0.1:{tunnel.port}", os.environ))
    finally:
        tunnel.close()
