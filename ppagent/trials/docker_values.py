"""Values of a Docker container's settings as options of `docker create`.

Each function takes a value as `docker inspect` shows it, and gives its options; None where that value is not carried
over.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Carried = Callable[[Any], list[str] | None]
"""Options for a value; None where that value is not carried over."""

_DRIVERS = ("json-file", "local", "journald")
"""Log drivers whose logs `docker logs` gives, which a start is watched by."""


def carried(known: Carried, value: Any) -> list[str] | None:
    """The options for a value; None also where it has another shape than the API's."""
    try:
        words = known(value)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    return words if words is None or all(isinstance(word, str) for word in words) else None


def only_empty(value: Any) -> list[str] | None:
    """A setting that is not known: nothing where it is empty."""
    return None if value else []


def each(option: str) -> Carried:
    """A list, each entry by an option."""

    def words(value: Any) -> list[str] | None:
        listed = value is None or isinstance(value, list)
        return [word for one in value or () for word in (option, one)] if listed else None

    return words


def valued(option: str) -> Carried:
    """A value by an option, unless it is empty."""
    return lambda value: [option, str(value)] if value else []


def switch(option: str) -> Carried:
    """An option without a value, where the setting is true."""
    return lambda value: [option] if value else []


def one_of(option: str, known: tuple[str, ...]) -> Carried:
    """A value out of those that are known."""

    return lambda value: [option, value] if value in known else only_empty(value)


def log(value: Mapping[str, Any]) -> list[str] | None:
    """The log's driver and its options."""
    if value.get("Type") not in _DRIVERS:
        return None
    pairs = (value.get("Config") or {}).items()
    return ["--log-driver", value["Type"], *(word for pair in pairs for word in ("--log-opt", "=".join(pair)))]


def ports(value: Mapping[str, Any] | None) -> list[str] | None:
    """Ports by number; one that the engine chooses is another one each time."""
    words = []
    for inside, places in (value or {}).items():
        for place in places or ():
            if place.get("HostPort") in (None, "", "0"):
                return None
            address = place.get("HostIp") or ""
            before = f"[{address}]:" if ":" in address else f"{address}:" if address else ""
            words += ["--publish", f"{before}{place['HostPort']}:{inside}"]
    return words


def devices(value: list[Mapping[str, str]] | None) -> list[str]:
    """Devices of the host."""
    parts = [(one["PathOnHost"], one["PathInContainer"], one["CgroupPermissions"]) for one in value or ()]
    return [word for one in parts for word in ("--device", ":".join(one))]


def requests(value: list[Mapping[str, Any]] | None) -> list[str] | None:
    """Cards, as `--gpus` asks for them, and devices by CDI."""
    words = []
    for one in value or ():
        ids, cdi = one.get("DeviceIDs") or [], one.get("Driver") == "cdi"
        if one.get("Options") or (one.get("Capabilities") or []) != ([] if cdi else [["gpu"]]):
            return None
        if cdi:
            words += [word for name in ids for word in ("--device", name)]
        elif one.get("Driver"):
            return None
        else:
            count = one.get("Count")
            words += ["--gpus", f'"device={",".join(ids)}"' if ids else "all" if count == -1 else str(count)]
    return words


def security(value: list[str] | None) -> list[str] | None:
    """A seccomp profile is shown by its content and asked for by its file, so it is not carried over."""
    if any("{" in one for one in value or ()):
        return None
    return [word for one in value or () for word in ("--security-opt", one)]


def mounts(value: list[Mapping[str, Any]] | None) -> list[str] | None:
    """Mounts by `--mount`, of the kinds and with the options that are known."""
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
