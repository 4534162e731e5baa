"""Whether the host that answers is the one we know. A key is never accepted, only recognised."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.remote.known_hosts import KnownHost, fingerprint, known_host
from ppagent.targets.remote.ssh_config import HostConfig

if TYPE_CHECKING:
    from paramiko.transport import Transport


def prefer_known_kinds(transport: "Transport", known: KnownHost) -> None:
    """Asks for the kinds of key by which the host is known, so that it does not show another of its keys."""
    wanted = [name for kind in known.kinds for name in _algorithms(kind)]
    options = transport.get_security_options()
    offered = tuple(options.key_types)
    chosen = [name for name in wanted if name in offered]
    options.key_types = (*chosen, *(name for name in offered if name not in chosen))


def host_of(config: HostConfig) -> KnownHost:
    """What known_hosts says of a host."""
    return known_host(config.known_as, config.known_hosts)


def check_host_key(transport: "Transport", config: HostConfig, known: KnownHost) -> None:
    """Raises UserError where the key shown is revoked, another one than is known, or not known at all."""
    shown = transport.get_remote_server_key()
    blob, kind = shown.asbytes(), shown.get_name()
    mark = f"{kind} {fingerprint(blob)}"
    if revoked := [key for key in known.revoked if key.blob == blob]:
        raise _refused(
            f"The key of {config.alias} ({mark}) is marked as revoked in {revoked[0].place}.",
            "Do not log in to it: somebody may have the key. Ask whoever runs the host.",
        )
    if any(key.blob == blob for key in known.keys):
        return
    if known.keys:
        raise _refused(
            f"The key of {config.alias} has changed: it shows {mark}, which is not the key in {known.keys[0].place}.",
            "If the host was set up anew, compare the fingerprint with whoever runs it and remove the old key with "
            f"`{_removal(config, known.keys[0].place)}`; if not, somebody may stand in between.",
        )
    remark = ""
    if known.authorities:
        remark = " known_hosts has a @cert-authority for it, which ppagent does not use; its own key must be there too."
    raise _refused(
        f"The key of {config.alias} ({mark}) is not in known_hosts.{remark}",
        f"Log in once with `ssh {config.alias}`, compare the fingerprint, and let ssh note it down.",
    )


def _removal(config: HostConfig, place: str) -> str:
    """The command that takes the old key out of the file that has it, which ssh-keygen must be told if it is not the
    usual one."""
    file = Path(place.rpartition(":")[0])
    where = "" if file == Path("~/.ssh/known_hosts").expanduser() else f" -f {shlex.quote(str(file))}"
    return f"ssh-keygen -R '{config.known_as}'{where}"


def _algorithms(kind: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256") if kind == "ssh-rsa" else (kind,)


def _refused(wrong: str, advice: str) -> UserError:
    return UserError(wrong, advice, ExitStatus.FAILURE)
