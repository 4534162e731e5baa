"""How a container was made, as options to make another one like it, and what of it cannot be carried over."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppagent.evidence.masking import mask

Shown = Mapping[str, Any]
"""What the engine's `inspect` says of a container or an image."""

MARK = "ppagent.relaunch"
"""The label of a container that ppagent made, with the id of its run."""
NAMELESS = re.compile(r"[0-9a-f]{64}\b")
"""How the engines call a volume that has no name."""
_NO_LINE = re.compile("[\r\n\ufffd]")
_OWNERS = (
    ("com.docker.compose.project", "Compose runs it"),
    ("io.podman.compose.project", "Compose runs it"),
    ("com.docker.swarm.service.name", "Swarm runs it"),
    ("io.kubernetes.pod.name", "Kubernetes runs it"),
    ("com.hashicorp.nomad.alloc_id", "Nomad runs it"),
    ("PODMAN_SYSTEMD_UNIT", "a systemd unit runs it"),
)


@dataclass(frozen=True)
class Options:
    """Options of `create`, without name, restart policy, variables, image and command. `refused`: settings that are
    not carried over, each named; nothing is done where there is one."""

    words: tuple[str, ...]
    refused: tuple[str, ...] = ()


def owner_of(shown: Shown) -> str:
    """Who runs the container and would make it again in its own way, in words; empty for nobody."""
    labels = shown["Config"].get("Labels") or {}
    return next((f"{says} ({labels[name]})" for name, says in _OWNERS if name in labels), "")


def command_of(shown: Shown) -> tuple[str, ...]:
    """Entrypoint and arguments as they are run."""
    return (shown["Path"], *shown["Args"])


def entrypoint_and_rest(command: Sequence[str], image: Shown) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """How `create` is told a command: the option for the entrypoint, where the image's own does not do, and words."""
    told = (image.get("Config") or {}).get("Entrypoint") or []
    own = tuple(told)
    if tuple(command[: len(own)]) == own and len(command) > len(own):
        return (), tuple(command[len(own) :])
    return ("--entrypoint", command[0]), tuple(command[1:])


def variables_of(shown: Shown) -> tuple[dict[str, str], str]:
    """Variables of the container, and why they cannot be carried over; they hold keys, so they are shown to nobody."""
    entries = shown["Config"].get("Env") or []
    pairs = [(name, value if equals else None) for name, equals, value in (each.partition("=") for each in entries)]
    own_name = shown["Id"][:12]
    kept = {name: value or "" for name, value in pairs if (name, value) != ("HOSTNAME", own_name)}
    return kept, refused_variable(pairs)


def refused_variable(pairs: Iterable[tuple[str, str | None]]) -> str:
    """The first variable that an --env-file cannot carry, with why; empty for none."""
    odd = next((name for name, value in pairs if value is None or _NO_LINE.search(f"{name}{value}")), "")
    return f"the variable {odd.splitlines()[0]} (no value, several lines, or no text)" if odd else ""


def told_openly(words: Sequence[str]) -> str:
    """Why options that hold a secret are not given again: the engine's command line can be read by every account of the
    host. The option and what stands before `=` are told, the rest is not."""
    for place, word in enumerate(words):
        if mask(word) != word:
            before = words[place - 1] if place else ""
            return f"{before} {mask(word.partition('=')[0])} holds a secret, which making a new one would show".strip()
    return ""


def env_file(variables: Mapping[str, str]) -> bytes:
    """What `--env-file` reads."""
    return "".join(f"{name}={value}\n" for name, value in variables.items()).encode()


def policy_of(shown: Shown) -> str:
    """The restart policy as `--restart` takes it."""
    policy = shown["HostConfig"].get("RestartPolicy") or {}
    name, most = policy.get("Name") or "no", policy.get("MaximumRetryCount") or 0
    return f"{name}:{most}" if name == "on-failure" and most else str(name)


def own_volumes(shown: Shown) -> dict[str, str]:
    """Volumes without a name that were made for the container, by where they are mounted: the copy takes the very same
    ones."""
    mounts = [mount for mount in shown.get("Mounts") or () if mount.get("Type") == "volume"]
    names = {str(mount["Destination"]): str(mount.get("Name")) for mount in mounts}
    return {place: name for place, name in names.items() if NAMELESS.match(name)}
