"""Which files of a host may be read without a person's word: what the kernel tells of itself, and the server's own."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_KERNEL = re.compile(
    r"/proc/(?:cpuinfo|meminfo|loadavg|uptime|stat|vmstat|version|cmdline|interrupts|softirqs|modules|mounts|swaps"
    r"|diskstats|zoneinfo|buddyinfo|pressure/\w+|net/[\w/]+|sys/[\w./-]+|driver/nvidia(?:/[\w.:/-]*)?)"
    r"|/proc/\d+/(?:task/\d+/)?(?:status|stat|statm|limits|cgroup|comm|wchan|sched|schedstat|numa_maps|smaps_rollup|io)"
    r"|/sys/(?:devices|class|module|bus|kernel/mm|fs/cgroup)(?:/[\w.:@,+-]+)*"
    r"|/var/log/(?:syslog|messages|kern\.log|dmesg|nvidia[\w.-]*|fabricmanager\.log|mcelog)(?:\.\d+)?"
    r"|/etc/(?:os-release|lsb-release|debian_version|nvidia[\w.-]*\.conf)"
)
_NAMES_ONLY = re.compile(r"/|/(?:proc|sys|dev|dev/shm|dev/nvidia[\w-]*|var/log|usr/local|usr/local/cuda[\w.-]*)/?")
"""Places whose names and sizes may be looked at, and no contents."""
_SECRET_NAME = re.compile(
    r"(?i)(?:^|/)\.|shadow|id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|p12|pfx|kdbx|pkl|pickle)$|credential|secret|passw"
    r"|token(?!izer)[^/]*$|authorized_keys"
)


def may_read(path: str, places: Sequence[str], *, names_only: bool = False) -> str:
    """Why a path may not be read; empty where it may. Beneath the server's own places nothing hidden, nothing that is
    called like a secret, and no pickle is read."""
    if not path.startswith("/") or ".." in PurePosixPath(path).parts or "//" in path or re.search(r"[*?\[\]{}~]", path):
        return f"{path} is no absolute path in plain words"
    if _KERNEL.fullmatch(path) or (names_only and _NAMES_ONLY.fullmatch(path)):
        return ""
    for place in places:
        if path == place or path.startswith(f"{place.rstrip('/')}/"):
            rest = path[len(place) :].lstrip("/")
            return f"{path} may hold a secret" if _SECRET_NAME.search(rest) else ""
    return f"{path} is not among the places that may be read"
