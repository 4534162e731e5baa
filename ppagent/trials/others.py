"""Whether the server works for others right now: a load of ours beside theirs would measure both."""

import time

from ppagent.bench.control import Control
from ppagent.errors import ToolError

LOOKS = 6
BETWEEN_LOOKS_S = 0.5


def serves_others(control: Control) -> bool:
    """Looks a few times for up to three seconds, before anything of ours is sent. True where most looks find requests.

    False too where the server does not tell (no `/v1/loads` or `/get_load`). Under pipeline parallelism the running
    count is of the slot the scheduler looked at, often an empty one: tokens held tell of all slots (0 when idle; what
    the prefix cache keeps is not counted).
    """
    found = 0
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_LOOKS_S)
        try:
            ranks = control.loads().ranks
        except ToolError:
            return False
        found += any((rank.slot_running or 0) + (rank.waiting or 0) + (rank.used_tokens or 0) > 0 for rank in ranks)
        if found > LOOKS / 2 or found + LOOKS - 1 - look <= LOOKS / 2:
            break
    return found > LOOKS / 2
