"""Opens live targets: `local`, `ssh://[user@]host[:port]`, a Host of the ssh configuration, several with commas."""

import atexit
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ppagent.errors import UserError
from ppagent.targets.live import LiveTarget
from ppagent.targets.live_host import USUAL, LiveHost, Windows
from ppagent.targets.remote.address import parse_address
from ppagent.targets.remote.asking import AskSecret, asker
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.ssh_config import names_host

LOCAL = "local"


def is_live(text: str) -> bool:
    """Whether a target names hosts rather than a file: each part is `local`, an ssh address, or a Host of the ssh
    configuration."""
    return all(_names_one(part) for part in text.split(","))


def not_all_hosts(text: str) -> UserError | None:
    """What is wrong with a list of hosts of which some part names none; None where nothing in it names a host."""
    parts = text.split(",")
    odd = [part for part in parts if not _names_one(part)]
    if len(odd) == len(parts) or not odd:
        return None
    name = odd[0].strip()
    if not name or _names_one(name):
        return UserError(
            f"Between the hosts of {text!r} stands more than commas.", "Write HOST,HOST without spaces between them."
        )
    advice = f"Write ssh://{name}, or name it in the configuration." if "/" not in name else "Name every host."
    return UserError(f"{name} is no Host of the ssh configuration, as the others are.", advice)


def _names_one(part: str) -> bool:
    return part == LOCAL or part.startswith("ssh://") or names_host(part)


def open_live(text: str, *, port: int | None = None, windows: Windows = USUAL, ahead: bool = False) -> LiveTarget:
    """Connects to every host named, side by side. `ahead`: most of what can be asked will be, so that it is fetched
    before it is asked for.

    Raises UserError where none can be reached; one that cannot beside others that can stands as missing.
    """
    names = text.split(",")
    if len(set(names)) < len(names):
        raise UserError(f"{text} names a host twice.", "Name each host of the deployment once.")
    for name in names:
        if name != LOCAL:
            parse_address(name)
    ask = asker()
    opened = _connect_all(names, ask)
    hosts: dict[str, LiveHost | UserError] = {}
    for name, link in zip(names, opened, strict=True):
        label = _label(name, hosts)
        if isinstance(link, UserError):
            hosts[label] = link
        else:
            hosts[label] = LiveHost(link, port=port, windows=windows, ask=ask, ahead=ahead)
    failed = [link for link in opened if isinstance(link, UserError)]
    if len(failed) == len(names):
        raise failed[0]
    target = LiveTarget(hosts, LOCAL if names == [LOCAL] else "ssh", text, port)
    atexit.register(target.close)
    return target


def _connect_all(names: Sequence[str], ask: AskSecret | None) -> list[Link | UserError]:
    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(lambda name: _connect(name, ask), names))


def _connect(name: str, ask: AskSecret | None) -> Link | UserError:
    if name == LOCAL:
        return LocalLink()
    from ppagent.targets.remote.ssh_link import SshLink

    try:
        return SshLink.to(parse_address(name), ask=ask)
    except UserError as error:
        return error


def _label(name: str, taken: dict[str, LiveHost | UserError]) -> str:
    """What a host is called in the evidence: its name without user and port, numbered where that is taken."""
    bare = name if name == LOCAL else parse_address(name).host
    return next(label for label in (bare, *(f"{bare}-{n}" for n in range(2, len(taken) + 2))) if label not in taken)
