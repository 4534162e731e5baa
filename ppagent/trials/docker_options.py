"""The settings of a Docker container as options of `docker create`, out of `docker inspect`.

Every setting that is there and is not known here is refused by its name. (Docker Engine API 1.41 to 1.49, the body of
`/containers/create`; tried against dockerd 20.10.)
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ppagent.trials.container_options import MARK, Options, Shown

Carried = Callable[[Any], list[str] | None]
"""Options for a value; None where that value is not carried over."""

_DRIVERS = ("json-file", "local", "journald")
"""Log drivers whose logs `docker logs` gives, which a start is watched by."""


def docker_options(shown: Shown, image: Shown) -> Options:
    """The options of a container, and the settings that are refused."""
    words: list[str] = []
    refused: list[str] = []
    for section, known, passed in (("HostConfig", _host(), _HOST_PASSED), ("Config", _config(shown, image), ())):
        for name, value in shown[section].items():
            if name in passed or (name not in known and section == "Config" and name in _CONFIG_PASSED):
                continue
            options = known[name](value) if name in known else _nothing(value)
            if options is None:
                refused.append(f"{section}.{name}")
            words += options or []
    words += [word for mount in shown.get("Mounts") or [] for word in _anonymous(mount, shown)]
    return Options(tuple(words), tuple(refused))


def _host() -> dict[str, Carried]:
    return {
        **{name: _each(option) for name, option in _LISTS.items()},
        **{name: _valued(option) for name, option in _VALUES.items()},
        **{name: _switch(option) for name, option in _SWITCHES.items()},
        "NetworkMode": _one_of("--network", ("host", "bridge", "default", "none")),
        "PidMode": _one_of("--pid", ("host",)),
        "UTSMode": _one_of("--uts", ("host",)),
        "UsernsMode": _one_of("--userns", ("host",)),
        "IpcMode": _one_of("--ipc", ("host", "private", "shareable", "none")),
        "ShmSize": lambda value: ["--shm-size", f"{value}b"] if value else [],
        "LogConfig": _log,
        "PortBindings": _ports,
        "Devices": _devices,
        "DeviceRequests": _requests,
        "SecurityOpt": _security,
        "Ulimits": lambda value: [
            word for each in value or () for word in ("--ulimit", f"{each['Name']}={each['Soft']}:{each['Hard']}")
        ],
        "Tmpfs": lambda value: [
            word for place, how in (value or {}).items() for word in ("--tmpfs", f"{place}:{how}" if how else place)
        ],
        "Sysctls": lambda value: [word for pair in (value or {}).items() for word in ("--sysctl", "=".join(pair))],
        "NanoCpus": lambda value: ["--cpus", f"{value / 1e9:g}"] if value else [],
        "Mounts": _mounts,
        "MemorySwappiness": lambda value: [] if value in (None, -1) else ["--memory-swappiness", str(value)],
        "RestartPolicy": lambda value: [],
    }


_LISTS = {
    "Binds": "--volume",
    "CapAdd": "--cap-add",
    "CapDrop": "--cap-drop",
    "Dns": "--dns",
    "DnsOptions": "--dns-option",
    "DnsSearch": "--dns-search",
    "ExtraHosts": "--add-host",
    "GroupAdd": "--group-add",
    "DeviceCgroupRules": "--device-cgroup-rule",
}
_VALUES = {
    "CgroupnsMode": "--cgroupns",
    "Runtime": "--runtime",
    "PidsLimit": "--pids-limit",
    "OomScoreAdj": "--oom-score-adj",
    "Memory": "--memory",
    "MemoryReservation": "--memory-reservation",
    "MemorySwap": "--memory-swap",
    "CpuShares": "--cpu-shares",
    "CpuPeriod": "--cpu-period",
    "CpuQuota": "--cpu-quota",
    "CpusetCpus": "--cpuset-cpus",
    "CpusetMems": "--cpuset-mems",
    "CgroupParent": "--cgroup-parent",
}
_SWITCHES = {"Privileged": "--privileged", "ReadonlyRootfs": "--read-only", "Init": "--init"}
_HOST_PASSED = ("MaskedPaths", "ReadonlyPaths", "ConsoleSize", "ContainerIDFile")
"""Made by the engine out of the others, or of no meaning for a running container; the copy is held against them."""
_CONFIG_PASSED = (
    "AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce", "Env", "Cmd", "Entrypoint", "Image", "Volumes",
    "OnBuild", "Shell", "ArgsEscaped",
)  # fmt: skip


def _config(shown: Shown, image: Shown) -> dict[str, Carried]:
    own = image.get("Config") or {}
    made = shown["HostConfig"].get("PortBindings") or {}
    given = own.get("Labels") or {}
    open_ports = own.get("ExposedPorts") or {}

    def hostname(value: str) -> list[str]:
        usual = value == shown["Id"][:12] or shown["HostConfig"].get("UTSMode") == "host"
        return [] if usual or not value else ["--hostname", value]

    return {
        "Hostname": hostname,
        "Domainname": _valued("--domainname"),
        "User": _valued("--user"),
        "WorkingDir": _valued("--workdir"),
        "StopSignal": _valued("--stop-signal"),
        "StopTimeout": _valued("--stop-timeout"),
        "Tty": _switch("--tty"),
        "OpenStdin": _switch("--interactive"),
        "Labels": lambda value: [
            word
            for name, text in (value or {}).items()
            if given.get(name) != text and name != MARK
            for word in ("--label", f"{name}={text}")
        ],
        "ExposedPorts": lambda value: [
            word for port in value or {} if port not in made and port not in open_ports for word in ("--expose", port)
        ],
        "Healthcheck": lambda value: [] if value == own.get("Healthcheck") else None,
    }


def _nothing(value: Any) -> list[str] | None:
    return None if value else []


def _each(option: str) -> Carried:
    return lambda value: [word for each in value or () for word in (option, str(each))]


def _valued(option: str) -> Carried:
    return lambda value: [option, str(value)] if value else []


def _switch(option: str) -> Carried:
    return lambda value: [option] if value else []


def _one_of(option: str, known: tuple[str, ...]) -> Carried:
    def carried(value: str) -> list[str] | None:
        return [option, value] if value in known else _nothing(value)

    return carried


def _log(value: Mapping[str, Any]) -> list[str] | None:
    if value.get("Type") not in _DRIVERS:
        return None
    pairs = (value.get("Config") or {}).items()
    return ["--log-driver", value["Type"], *(word for pair in pairs for word in ("--log-opt", "=".join(pair)))]


def _ports(value: Mapping[str, Any] | None) -> list[str] | None:
    words = []
    for inside, places in (value or {}).items():
        for place in places or ():
            if place.get("HostPort") in (None, "", "0"):
                return None
            address = place.get("HostIp") or ""
            before = f"[{address}]:" if ":" in address else f"{address}:" if address else ""
            words += ["--publish", f"{before}{place['HostPort']}:{inside}"]
    return words


def _devices(value: list[Mapping[str, str]] | None) -> list[str]:
    parts = [(each["PathOnHost"], each["PathInContainer"], each["CgroupPermissions"]) for each in value or ()]
    return [word for each in parts for word in ("--device", ":".join(each))]


def _requests(value: list[Mapping[str, Any]] | None) -> list[str] | None:
    """Cards, as `--gpus` asks for them, and devices by CDI."""
    words = []
    for each in value or ():
        ids, cdi = each.get("DeviceIDs") or [], each.get("Driver") == "cdi"
        if each.get("Options") or (each.get("Capabilities") or []) != ([] if cdi else [["gpu"]]):
            return None
        if cdi:
            words += [word for name in ids for word in ("--device", name)]
        elif each.get("Driver"):
            return None
        else:
            count = each.get("Count")
            words += ["--gpus", f'"device={",".join(ids)}"' if ids else "all" if count == -1 else str(count)]
    return words


def _security(value: list[str] | None) -> list[str] | None:
    """A seccomp profile is shown by its content and asked for by its file, so it is not carried over."""
    if any("{" in each for each in value or ()):
        return None
    return [word for each in value or () for word in ("--security-opt", each)]


def _mounts(value: list[Mapping[str, Any]] | None) -> list[str] | None:
    words = []
    for mount in value or ():
        known = {"Type", "Source", "Target", "ReadOnly", "TmpfsOptions"}
        if any(more for name, more in mount.items() if name not in known):
            return None
        parts = [f"type={mount['Type']}", f"target={mount['Target']}"]
        parts += [f"source={mount['Source']}"] if mount.get("Source") else []
        parts += ["readonly"] if mount.get("ReadOnly") else []
        parts += list(_tmpfs(mount.get("TmpfsOptions") or {}))
        if any("," in part or '"' in part for part in parts) or (mount["Type"] == "volume" and "Source" not in mount):
            return None
        words += ["--mount", ",".join(parts)]
    return words


def _tmpfs(options: Mapping[str, int]) -> Iterator[str]:
    if options.get("SizeBytes"):
        yield f"tmpfs-size={options['SizeBytes']}"
    if options.get("Mode"):
        yield f"tmpfs-mode={options['Mode']:o}"


def _anonymous(mount: Mapping[str, Any], shown: Shown) -> list[str]:
    """A volume without a name of its own, made for the container: the copy takes the very same one."""
    host = shown["HostConfig"]
    asked = [bind.split(":")[1] for bind in host.get("Binds") or () if ":" in bind]
    asked += [each["Target"] for each in host.get("Mounts") or ()]
    if mount.get("Type") != "volume" or mount["Destination"] in asked:
        return []
    return ["--volume", f"{mount['Name']}:{mount['Destination']}"]
