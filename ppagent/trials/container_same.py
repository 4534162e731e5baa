"""Whether a container that was made like another one is like it: every setting that the engine shows, held together.

It is asked of a copy that was made and not started, before the old container is touched.
"""

import json
from collections.abc import Mapping
from typing import Any

from ppagent.trials.container_options import MARK, NAMELESS, Shown, variables_of

_ABOUT_ONE = frozenset((
    "Hostname", "Image", "Cmd", "Entrypoint", "AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce", "Volumes",
    "CreateCommand", "Annotations", "Env", "Labels", "RestartPolicy", "ContainerIDFile", "ConsoleSize", "Path",
))  # fmt: skip
"""What differs between two containers of the same settings, or is looked at apart."""
_EMPTY: tuple[object, ...] = (None, "", 0, False, [], {})


def differences(old: Shown, new: Shown, env: Mapping[str, str]) -> tuple[str, ...]:
    """The settings in which `new` is not like `old`, by name, apart from its command, from the variables `env` and from
    the restart policy, which are to differ."""
    found = []
    for section in ("HostConfig", "Config"):
        one, other = _plain(old, section), _plain(new, section)
        found += [f"{section}.{name}" for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    found += [name for name in ("Image", "OCIRuntime") if old.get(name) != new.get(name)]
    found += ["Mounts"] if _mounts(old) != _mounts(new) else []
    wanted = {**variables_of(old)[0], **env}
    found += [] if variables_of(new)[0] == wanted else ["Config.Env"]
    found += [] if _labels(old) == _labels(new) else ["Config.Labels"]
    return tuple(found)


def _plain(shown: Shown, section: str) -> dict[str, Any]:
    """The settings of a section that are not empty, each in one form, without the container's own id."""
    text = json.dumps({name: value for name, value in shown[section].items() if name not in _ABOUT_ONE})
    settings = json.loads(text.replace(shown["Id"], "ID"))
    if settings.get("Binds"):  # one without a name is no bind of the old container; the mounts tell of it
        settings["Binds"] = [bind for bind in settings["Binds"] if not NAMELESS.match(bind)]
    return {name: _in_order(value) for name, value in settings.items() if value not in _EMPTY}


def _in_order(value: Any) -> Any:
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


def _labels(shown: Shown) -> dict[str, str]:
    return {name: text for name, text in (shown["Config"].get("Labels") or {}).items() if name != MARK}


def _mounts(shown: Shown) -> list[tuple[Any, ...]]:
    names = ("Destination", "Type", "Name", "Source", "RW", "Propagation")
    return sorted(tuple(str(mount.get(name, "")) for name in names) for mount in shown.get("Mounts") or ())
