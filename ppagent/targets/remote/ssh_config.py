"""What the ssh configuration says of a host. OpenSSH is asked where it is there, so that Include, Match and tokens are
its own; else the file is read here."""

import getpass
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ppagent.errors import UserError
from ppagent.targets.remote.address import ALIAS, Address
from ppagent.targets.remote.ssh_include import expanded_text, meant_by

CONFIG_VARIABLE = "PPAGENT_SSH_CONFIG"
"""Names a file to be read in place of the user's ssh configuration, as `ssh -F` does."""

_USER_CONFIG = Path("~/.ssh/config")
_SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
_DEFAULT_KEYS = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
_ASK_S = 10.0


@dataclass(frozen=True)
class HostConfig:
    """How to log in to a host."""

    alias: str
    """What the user calls it."""
    hostname: str
    port: int
    user: str
    keys: tuple[Path, ...]
    only_these_keys: bool
    use_agent: bool
    jumps: tuple[str, ...]
    """Hosts to go through, nearest first, as addresses."""
    proxy_command: str
    known_hosts: tuple[Path, ...]
    key_alias: str
    """The name its host key is known by; empty for its own."""

    @property
    def known_as(self) -> str:
        """The name under which known_hosts has the host."""
        name = (self.key_alias or self.hostname).lower()
        return name if self.port == 22 or self.key_alias else f"[{name}]:{self.port}"


def resolve(address: Address, config: Path | None = None, ssh: str | None = None) -> HostConfig:
    """The configuration of a host.

    `config`: in place of the user's and the system's files. `ssh`: the OpenSSH client to ask; empty for none, None for
    the one in PATH. Raises UserError where the configuration cannot be read.
    """
    config = config or _named_config()
    program = shutil.which("ssh") if ssh is None else ssh
    found = _asked(program, address, config) if program else _read(address, config)
    return _host_config(address, found)


def names_host(alias: str) -> bool:
    """Whether the ssh configuration has a Host line for `alias`, one that does not stand for every host."""
    if not ALIAS.fullmatch(alias):
        return False
    named = _named_config()
    for path in [named] if named is not None else [_USER_CONFIG.expanduser(), _SYSTEM_CONFIG]:
        try:
            text = expanded_text(path, alias)
        except OSError:  # a configuration that cannot be read names nobody; logging in says what is wrong with it
            continue
        for names in re.findall(r"(?im)^\s*host[\s=]+(.+)", text):
            if meant_by(names, alias, also_by_all=False):
                return True
    return False


def _named_config() -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE)
    return Path(named).expanduser() if named else None


def _asked(program: str, address: Address, config: Path | None) -> dict[str, list[str]]:
    """The answer of `ssh -G`."""
    words = [program, "-G"]
    words += ["-F", str(config)] if config is not None else []
    words += ["-l", address.user] if address.user else []
    words += ["-p", str(address.port)] if address.port else []
    try:
        done = subprocess.run(
            [*words, "--", address.host], capture_output=True, timeout=_ASK_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"`ssh -G {address.host}` gives no answer: {error}.", "Try it by hand.") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise UserError(
            f"The ssh configuration cannot be read: {said[0] if said else done.returncode}.",
            f"Put right what `ssh -G {address.host}` says.",
        )
    found: dict[str, list[str]] = {}
    for line in done.stdout.decode(errors="replace").splitlines():
        key, _, value = line.partition(" ")
        found.setdefault(key.lower(), []).append(value.strip())
    return found


def _read(address: Address, config: Path | None) -> dict[str, list[str]]:
    """The files as paramiko understands them, with their Include lines followed."""
    from paramiko.config import SSHConfig
    from paramiko.ssh_exception import ConfigParseError

    files = [config] if config is not None else [_USER_CONFIG.expanduser(), _SYSTEM_CONFIG]
    try:
        text = "\nHost *\n".join(expanded_text(path, address.host) for path in files if path.is_file())
        told = SSHConfig.from_text(text).lookup(address.host)
    except (ConfigParseError, OSError) as error:
        raise UserError(f"The ssh configuration cannot be read: {error}.", f"Look at {files[0]}.") from error
    found = {key: value if isinstance(value, list) else [value] for key, value in told.items() if value is not None}
    given = {"user": address.user, "port": str(address.port) if address.port else None}
    found.update((key, [value]) for key, value in given.items() if value)
    return found


def _host_config(address: Address, found: Mapping[str, Sequence[str]]) -> HostConfig:
    def first(key: str, default: str = "") -> str:
        value = found.get(key, [default])[0]
        return "" if value.lower() == "none" else value

    hostname = first("hostname", address.host)
    me = _user_name()
    port, user = int(first("port", "22")), first("user", me)
    tokens = {"%": "%", "h": hostname, "p": str(port), "r": user, "n": address.host,
              "d": str(Path.home()), "u": me}  # fmt: skip
    files = [*first("userknownhostsfile").split(), *first("globalknownhostsfile").split()] or [*_KNOWN_HOSTS]
    return HostConfig(
        alias=address.host,
        hostname=hostname,
        port=port,
        user=user,
        keys=tuple(Path(_filled(key, tokens)).expanduser() for key in found.get("identityfile", _DEFAULT_KEYS)),
        only_these_keys=first("identitiesonly") == "yes",
        use_agent=found.get("identityagent", [""])[0].lower() != "none",
        jumps=tuple(_filled(first("proxyjump"), tokens).replace(" ", "").split(",")) if first("proxyjump") else (),
        proxy_command=_filled(first("proxycommand"), tokens),
        known_hosts=tuple(Path(_filled(name.strip('"'), tokens)).expanduser() for name in files),
        key_alias=first("hostkeyalias"),
    )


def _filled(text: str, tokens: Mapping[str, str]) -> str:
    """`text` with the tokens of ssh_config(5) that are known here; others are left as they stand."""
    return re.sub(r"%(.)", lambda match: tokens.get(match[1], match[0]), text)


def _user_name() -> str:
    """Who we are on this machine: the number of an account without a name, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
