"""How a command is run so that it always ends: by its own time limit, or when whoever asked for it is gone."""

from collections.abc import Sequence

_LEASH = (
    "t=$1 n=$2; shift 2; "
    'i=$(head -c "$n"; echo .); '
    "exec 3<&0 </dev/null; "
    'printf %s "${i%.}" | timeout -k 2 "$t" "$@" 3<&- & g=$!; '
    '{ while read -r x <&3; do :; done; kill -TERM "-$g"; sleep 1; kill -KILL "-$g"; } >/dev/null 2>&1 & w=$!; '
    'exec 3<&-; wait "$g"; s=$?; exec 2>/dev/null; kill "$w"; exit "$s"'
)
"""One line of sh. Standard input carries the command's input first and stays open as the leash: when it ends, because
the connection broke, the channel was closed or ppagent is no more, the command's process group is ended. `timeout` of
coreutils makes that group and ends it by itself when its time is up (exit status 124, or 137 where it had to kill)."""

TIME_UP = frozenset((124, 137))


def leashed(argv: Sequence[str], timeout_s: float, stdin: bytes) -> list[str]:
    """The argument list that runs `argv` on a leash; `stdin` must be written to it at once and not be closed."""
    return ["sh", "-c", _LEASH, "ppagent", f"{timeout_s:g}", str(len(stdin)), *argv]
