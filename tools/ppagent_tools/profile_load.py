"""Something to trace: the users' own requests, or else some of ours."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from ppagent.bench.control import Control
from ppagent.bench.reach import Reached
from ppagent.errors import PpagentError, ToolError
from ppagent.evidence.counts import agreeing
from ppagent.trials.own_load import OwnLoad
from ppagent_tools.live_server import shape_of, words_of

LOOKS, LOOK_S = 6, 0.3
SETTLE_S = 3.0
TOKENS_IN, TOKENS_OUT = (64, 256), (96, 256)


@contextmanager
def load_beside(server: Reached, concurrency: int, stages: int) -> Iterator[str]:
    """Keeps requests in flight where that was asked for, or where the server has none; says in words which. Raises
    ToolError where they cannot be sent."""
    count = concurrency or (0 if at_work(server.control) else max(2, stages))
    if not count:
        yield "under the requests of the server's users"
        return
    load = OwnLoad(server.endpoint, shape_of(count, 0.1, TOKENS_IN, TOKENS_OUT, 60.0), words_of(server))
    try:
        load.start()
    except ToolError:
        raise
    except PpagentError as error:
        raise ToolError(str(error)) from error
    try:
        time.sleep(SETTLE_S)
        yield agreeing(f"under {count} requests of its own at a time")
    except BaseException:
        load.stop(wait=False)
        raise
    load.stop(wait=True)


def at_work(control: Control) -> bool:
    """Whether requests run or wait; true as well where the server does not say, since nothing is sent unasked then."""
    for _ in range(LOOKS):
        try:
            ranks = control.loads().ranks
        except ToolError:
            return True
        if any(rank.slot_running or rank.waiting for rank in ranks):
            return True
        time.sleep(LOOK_S)
    return False
