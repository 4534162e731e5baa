"""What a container engine's `inspect` says, held to the shape that is read of it: an answer may be cut, or of an engine
that says things another way."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[object], bool]


def shown_in(text: bytes, kind: str) -> dict[str, Any]:
    """The one container or image (`kind`) of an answer. Raises ValueError, with what is wrong of it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"what it says of the {kind} is no whole JSON") from error
    match found:
        case [dict() as shown]:
            pass
        case _:
            raise ValueError(f"it does not say one {kind}")
    if odd := next(_odd(shown, _CONTAINER if kind == "container" else _IMAGE), ""):
        raise ValueError(f"what it says of the {kind} has another {odd} than is known")
    return dict(shown)


def _odd(shown: Mapping[str, Any], checks: Mapping[str, Check]) -> Iterator[str]:
    for place, check in checks.items():
        section, dot, name = place.partition(".")
        holder = shown.get(section) or {} if dot else shown
        if not check(holder.get(name if dot else section)):
            yield place


def _text(value: object) -> bool:
    return isinstance(value, str)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _pairs(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _settings(value: object) -> bool:
    return isinstance(value, dict)


def _mounts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and isinstance(each.get("Destination"), str) for each in value
    )


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


_IMAGE: Mapping[str, Check] = {
    "Id": _text,
    "Config": _or_none(_settings),
    "Config.Entrypoint": _or_none(_texts),
    "Config.Labels": _or_none(_pairs),
    "Config.ExposedPorts": _or_none(_settings),
}
_CONTAINER: Mapping[str, Check] = {
    **dict.fromkeys(("Id", "Name", "Image", "Path"), _text),
    **dict.fromkeys(("State", "HostConfig", "Config"), _settings),
    "Args": _texts,
    "Mounts": _or_none(_mounts),
    "State.Running": lambda value: isinstance(value, bool),
    "State.StartedAt": _text,
    "State.Pid": lambda value: isinstance(value, int),
    "Config.Image": _text,
    "Config.Env": _or_none(_texts),
    "Config.Labels": _or_none(_pairs),
    "Config.CreateCommand": _or_none(_texts),
    "HostConfig.RestartPolicy": _or_none(_settings),
    "HostConfig.Tmpfs": _or_none(_settings),
    "HostConfig.LogConfig": _or_none(_settings),
    "HostConfig.Binds": _or_none(_texts),
    "HostConfig.PortBindings": _or_none(_settings),
}
