"""The settings of a Docker container as options of `docker create`, out of `docker inspect`.

Every setting that is there and is not known here is refused by its name. (Docker Engine API 1.41 to 1.49, the body of
`/containers/create`; tried against dockerd 20.10.)
"""

from ppagent.trials import docker_values as values
from ppagent.trials.container_options import MARK, Options, Shown, own_volumes


def docker_options(shown: Shown, image: Shown) -> Options:
    """The options of a container, and the settings that are refused."""
    words: list[str] = []
    refused: list[str] = []
    for section, known, passed in (
        ("HostConfig", _host(), _HOST_PASSED),
        ("Config", _config(shown, image), _CONFIG_PASSED),
    ):
        for name, value in shown[section].items():
            if name in passed:
                continue
            options = values.carried(known.get(name, values.only_empty), value)
            if options is None:
                refused.append(f"{section}.{name}" + (f"={value}" if isinstance(value, str) else ""))
            words += options or []
    asked = [bind.split(":")[1] for bind in shown["HostConfig"].get("Binds") or () if ":" in bind]
    words += [
        word
        for place, name in own_volumes(shown).items()
        if place not in asked
        for word in ("--volume", f"{name}:{place}")
    ]
    return Options(tuple(words), tuple(refused))


def _host() -> dict[str, values.Carried]:
    return {
        **{name: values.each(option) for name, option in _LISTS.items()},
        **{name: values.valued(option) for name, option in _VALUES.items()},
        **{name: values.switch(option) for name, option in _SWITCHES.items()},
        "NetworkMode": values.one_of("--network", ("host", "bridge", "default", "none")),
        "PidMode": values.one_of("--pid", ("host",)),
        "UTSMode": values.one_of("--uts", ("host",)),
        "UsernsMode": values.one_of("--userns", ("host",)),
        "IpcMode": values.one_of("--ipc", ("host", "private", "shareable", "none")),
        "ShmSize": lambda value: ["--shm-size", f"{value}b"] if value else [],
        "LogConfig": values.log,
        "PortBindings": values.ports,
        "Devices": values.devices,
        "DeviceRequests": values.requests,
        "SecurityOpt": values.security,
        "Ulimits": lambda value: [
            word for each in value or () for word in ("--ulimit", f"{each['Name']}={each['Soft']}:{each['Hard']}")
        ],
        "Tmpfs": lambda value: [
            word for place, how in (value or {}).items() for word in ("--tmpfs", f"{place}:{how}" if how else place)
        ],
        "Sysctls": lambda value: [word for pair in (value or {}).items() for word in ("--sysctl", "=".join(pair))],
        "NanoCpus": lambda value: ["--cpus", f"{value / 1e9:.9g}"] if value else [],
        "Mounts": values.mounts,
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


def _config(shown: Shown, image: Shown) -> dict[str, values.Carried]:
    own = image.get("Config") or {}
    made = shown["HostConfig"].get("PortBindings") or {}
    given = own.get("Labels") or {}
    open_ports = own.get("ExposedPorts") or {}

    def hostname(value: str) -> list[str]:
        usual = value == shown["Id"][:12] or shown["HostConfig"].get("UTSMode") == "host"
        return [] if usual or not value else ["--hostname", value]

    return {
        "Hostname": hostname,
        "Domainname": values.valued("--domainname"),
        "User": values.valued("--user"),
        "WorkingDir": values.valued("--workdir"),
        "StopSignal": values.valued("--stop-signal"),
        "StopTimeout": values.valued("--stop-timeout"),
        "Tty": values.switch("--tty"),
        "OpenStdin": values.switch("--interactive"),
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
