"""What a tool has started ends with the session, however that ends.

Commands on hosts have a leash of their own (`ppagent/targets/remote/leash.py`). A tool of somebody else may start
processes of its own, which nobody would end after `kill -9`. So a small shell in a session of its own holds the other
end of a pipe: where that closes without a word, it ends whatever is left of this process's group.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

ALL_WELL = b"x\n"
_WATCH = 'read -r said && exit 0; kill -TERM "-$1" 2>/dev/null; sleep 1; kill -KILL "-$1" 2>/dev/null'


@contextmanager
def guarded() -> Iterator[None]:
    """While it lasts, the end of this process is the end of its process group. Only where the group is its own, as a
    shell with job control, tmux and ssh -t make it: else the group is somebody's script."""
    if os.getpgrp() != os.getpid():
        yield
        return
    try:
        watch = subprocess.Popen(
            ["sh", "-c", _WATCH, "ppagent", str(os.getpgrp())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # no shell, no guard: the session itself needs none
        yield
        return
    try:
        yield
    finally:
        watch.communicate(ALL_WELL)
