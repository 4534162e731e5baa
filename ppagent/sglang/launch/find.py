"""Finds the launch command in a text of any of the forms it is written in."""

from ppagent.sglang.launch.manifest import find_in_manifest, is_manifest
from ppagent.sglang.launch.regions import whole
from ppagent.sglang.launch.shell import commands
from ppagent.sglang.launch.site import NoLaunchCommand, Site, find_in_shell
from ppagent.sglang.launch.systemd import find_in_unit, is_unit


def find_launch(text: str) -> Site:
    """The first SGLang launch in a shell command or script, systemd unit, Kubernetes or compose YAML.

    A bare list of options (`--model-path x --tp 8`) counts as one without a program. Raises NoLaunchCommand.
    """
    if is_unit(text):
        site = find_in_unit(text)
    else:
        site = find_in_manifest(text) if is_manifest(text) else None
        site = site or find_in_shell(whole(text)) or _options_alone(text)
    if site is None:
        raise NoLaunchCommand
    return site


def _options_alone(text: str) -> Site | None:
    words = next(commands(whole(text), {}), ())
    return Site("shell", (), words) if words and words[0].value.startswith("--") else None
