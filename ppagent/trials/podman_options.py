"""The settings of a Podman container as options of `podman create`: those that it was made with.

Podman keeps the command that made a container (`Config.CreateCommand`), and its `inspect` leaves settings out: devices
by CDI, sysctls, another IPC namespace (seen with 4.3.1). So that command is what is carried over, option by option, and
an option that is not known here is refused by its name.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ppagent.trials.container_options import MARK, Options, Shown, own_volumes

_VALUED = frozenset((
    "add-host", "annotation", "arch", "blkio-weight", "cap-add", "cap-drop", "cgroup-parent", "cgroupns", "cpu-period",
    "cpu-quota", "cpu-shares", "cpus", "cpuset-cpus", "cpuset-mems", "device", "device-cgroup-rule", "dns", "dns-opt",
    "dns-option", "dns-search", "expose", "gpus", "group-add", "health-cmd", "health-interval", "health-on-failure",
    "health-retries", "health-start-period", "health-timeout", "hostname", "hostuser", "image-volume", "ip", "ip6",
    "ipc", "label", "log-driver", "log-opt", "mac-address", "memory", "memory-reservation", "memory-swap",
    "memory-swappiness", "mount", "network", "net", "network-alias", "oom-score-adj", "os", "pid", "pids-limit",
    "platform", "publish", "sdnotify", "secret", "security-opt", "shm-size", "shm-size-systemd", "stop-signal",
    "stop-timeout", "sysctl", "systemd", "tmpfs", "tz", "ulimit", "umask", "user", "userns", "uts", "variant", "volume",
    "workdir",
))  # fmt: skip
"""Options that mean the same wherever and whenever they are given."""
_SWITCHES = frozenset((
    "init", "privileged", "read-only", "read-only-tmpfs", "tty", "interactive", "no-healthcheck", "no-hosts",
    "http-proxy", "oom-kill-disable",
))  # fmt: skip
_DROPPED = frozenset((
    "name", "entrypoint", "env", "env-file", "pull", "restart", "detach-keys", "cidfile", "authfile", "retry",
    "retry-delay",
))  # fmt: skip
"""Told another way, or of meaning for the making alone."""
_DROPPED_SWITCHES = frozenset((
    "detach", "replace", "rm", "sig-proxy", "quiet", "env-host", "rmi", "tls-verify",
))  # fmt: skip
_SHORT = {
    "a": "attach", "c": "cpu-shares", "d": "detach", "e": "env", "h": "hostname", "i": "interactive", "l": "label",
    "m": "memory", "P": "publish-all", "p": "publish", "q": "quiet", "t": "tty", "u": "user", "v": "volume",
    "w": "workdir",
}  # fmt: skip
_OTHERS = re.compile(r"^(?:container|ns):")
_RELABELS = re.compile(r":(?:[\w,]*,)?[zZ](?:,|$)|relabel=")
_READ_BY = ("k8s-file", "json-file", "journald", "")
"""Log drivers whose logs `podman logs` gives, which a start is watched by."""


def podman_options(shown: Shown) -> Options:
    """The options of a container, and what is refused."""
    made = list(shown["Config"].get("CreateCommand") or ())
    verb = next((at for at, word in enumerate(made[:8]) if word in ("run", "create")), -1)
    if verb < 0:
        return Options((), ("podman does not tell the command that made it",))
    words: list[str] = []
    refused = [name for name in ("Pod", "Rootfs", "Dependencies", "IsInfra") if shown.get(name)]
    refused += [f"the option {word}" for word in made[1:verb] if word != "container"]
    relabelled, volumes = bool(shown.get("MountLabel")), own_volumes(shown)
    for name, value in _given(made[verb + 1 :]):
        if name in _DROPPED or name in _DROPPED_SWITCHES or (name == "label" and value.startswith(f"{MARK}=")):
            continue
        if name == "volume" and value.split(":")[0] in volumes:
            continue
        if not _known(name, value) or _odd(name, value, relabelled):
            refused.append(f"--{name} {value}".strip())
        elif name in _SWITCHES:
            words.append(f"--{name}={value or 'true'}")
        else:
            words += [f"--{name}", value]
    words += [word for place, name in volumes.items() for word in ("--volume", f"{name}:{place}")]
    driver = (shown["HostConfig"].get("LogConfig") or {}).get("Type", "")
    refused += [] if driver in _READ_BY else [f"--log-driver {driver}"]
    return Options(tuple(words), tuple(refused))


def _known(name: str, value: str) -> bool:
    return value in ("", "true", "false") if name in _SWITCHES else name in _VALUED


def _given(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(long name, value) of each option up to the image. One that is not known ends it: where the next one begins, or
    the image, cannot be told."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "--":
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            name, equals, value = _short(word, left)
        name = name.removeprefix("--")
        switch = name in _SWITCHES or name in _DROPPED_SWITCHES
        known = switch or name in _VALUED or name in _DROPPED
        if known and not equals and not switch:
            value = left.pop(0) if left else ""
        yield name, value
        if not known:
            return


def _short(word: str, left: list[str]) -> tuple[str, str, str]:
    """The first of bundled short options: `-it` is `-i -t`, `-v/a:/b` has its value in the same word."""
    name, rest = _SHORT.get(word[1:2], word), word[2:]
    if rest and (name in _SWITCHES or name in _DROPPED_SWITCHES):
        left.insert(0, f"-{rest}")
        return name, "", ""
    return (name, "=", rest.removeprefix("=")) if rest else (name, "", "")


def _odd(name: str, value: str, relabelled: bool) -> bool:
    """Whether a value means another thing now: another container's, a path from where it was made, or a label that
    SELinux gave to the old container alone."""
    if name in ("network", "net", "ipc", "pid", "uts", "userns") and _OTHERS.match(value):
        return True
    if name == "volume":
        return value.startswith(".") or not _absolute(value) or (relabelled and bool(_RELABELS.search(value)))
    if name == "publish":
        return not re.search(r"[^:]:[^:]+$", value)  # no port of the host is named, so it is another one each time
    if name == "mount":
        return bool(re.search(r"(?:source|src)=\.", value)) or (relabelled and bool(_RELABELS.search(value)))
    return False


def _absolute(volume: str) -> bool:
    """Whether a volume has a name or a path from the root; without either it is a new one in each container."""
    source, colon, _ = volume.partition(":")
    return bool(colon) and (PurePosixPath(source).is_absolute() or "/" not in source)
