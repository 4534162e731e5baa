"""What hosts are called in a recording: a label, never an address."""

import re
from collections.abc import Sequence
from ipaddress import ip_address


def labels(hosts: Sequence[str]) -> dict[str, str]:
    """Host to the name of its folder. A host known by its address is called by its number."""
    found: dict[str, str] = {}
    for number, host in enumerate(hosts):
        bare = f"host-{number}" if _is_address(host) else re.sub(r"[^A-Za-z0-9_.-]+", "-", host).strip(".-")
        name = bare or f"host-{number}"
        free = (name, *(f"{name}-{n}" for n in range(2, len(hosts) + 2)))
        found[host] = next(each for each in free if each not in found.values())
    return found


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
