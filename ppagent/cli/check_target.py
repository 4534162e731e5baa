"""What `ppagent check` looks at: launch commands with what is known of the server they are for."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ppagent.cli.common import note
from ppagent.cli.installation import flags_by_host, open_briefly, versions_of
from ppagent.cli.recorded import first_gpu, named_text, piped_text, recorded, recorded_object
from ppagent.errors import ToolError, UserError
from ppagent.record.source import recorded_source
from ppagent.sglang.flags.installed import InstalledFlags, flags_of_tree, flags_of_version
from ppagent.sglang.flags.source import SERVER_ARGS, SourceTree, read_version
from ppagent.sglang.launch.find import find_launch
from ppagent.sglang.launch.lost_backslashes import with_backslashes
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.scheduler_facts.code import has, open_tree
from ppagent.sglang.stated_version import stated_version
from ppagent.sglang.versions import parse_version
from ppagent.targets.open import named_path
from ppagent.targets.packed import is_archive
from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact, Target

LONGEST_NAME = 500
_IMAGE_TAG = re.compile(r"sglang:v?(\d+\.\d+\.\d+(?:\.?(?:post|rc|dev)\d+)?)")
_LIVE = re.compile(r"local|ssh://\S+|[\w.@-]+(?:,[\w.@:/-]+)*")
"""What may name hosts; a command holds a blank."""


@dataclass(frozen=True)
class Subject:
    """One launch command and its surroundings, as far as they are known. `host` is empty for a bare command."""

    text: str
    version: str = ""
    host: str = ""
    tree: SourceTree | None = None
    flags: InstalledFlags | None = None
    """The flags of the host's installation, where the command is of one."""
    architectures: tuple[str, ...] = ()
    layers: int | None = None
    gpu: str | None = None
    stated: str = ""
    """The version that the words around the command name."""


def subjects(target: str, version: str | None, tree: Path | None, port: int | None = None) -> tuple[Subject, ...]:
    """What TARGET names: the launches of a recording or of live hosts, a file with one, pasted text, or a command.

    A version or tree that was asked for counts before what a host says. Raises UserError where there is no launch
    command, or no version can be told.
    """
    package = open_tree(tree)
    if tree is not None and package is None:
        raise UserError(f"{tree} is not the sglang package.", "Name the folder that holds sglang/srt, or srt itself.")
    stated = version or (read_version(package) if package else "")
    found = _named(target, port)
    if stated or package is not None:
        found = [replace(one, tree=package, flags=None) for one in found]
    return tuple(replace(one, version=_version_of(one, stated)) for one in found)


def _named(target: str, port: int | None) -> list[Subject]:
    if target == "-":
        return [_of_text(piped_text())]
    if target.startswith(("http://", "https://")):
        return _of_target(open_briefly(target, port))
    path = named_path(target) if "\n" not in target and len(target) < LONGEST_NAME else None
    if path is not None and path.is_file() and not is_archive(path):
        return [_of_text(named_text(path), target)]
    if path is not None and (path.exists() or _LIVE.fullmatch(target)):
        return _of_target(open_briefly(target, port))
    try:
        find_launch(target)
    except NoLaunchCommand as error:
        if " " in target.strip():
            raise
        raise UserError(f"There is no file or folder {target}.", error.advice) from None
    return [Subject(with_backslashes(target))]


def _of_text(text: str, name: str = "") -> Subject:
    """A text with a launch command in it, and whatever else it tells of the server."""
    pasted = read_pasted(text)
    around = replace(next(iter(_of_hosts(pasted)), Subject("")), stated=stated_version(pasted.words))
    try:
        find_launch(text)
    except NoLaunchCommand:
        if around.text:
            return replace(around, host="")
        if name and Artifact.SERVER_LOG in pasted.artifacts:
            raise UserError(f"The log {name} holds no launch command.", "Give the command itself, in quotes.") from None
        raise
    return replace(around, text=with_backslashes(text), host="")


def _of_target(target: Target) -> list[Subject]:
    """Raises UserError where no host has a launch command; a live host that cannot be asked is said and left out."""
    found = _of_hosts(target)
    if not found:
        what = "There is no launch command of a server on" if target.kind != "recording" else "No launch command is in"
        raise UserError(f"{what} {target.name}.", "Give the command itself, in quotes.")
    return found


def _of_hosts(target: Target) -> list[Subject]:
    versions = versions_of(target)
    flags = flags_by_host(target, versions)
    found: list[Subject] = []
    for host in target.hosts:
        try:
            subject = _of_host(target, host, versions.get(host, ""), flags.get(host))
        except ToolError as error:
            if target.kind == "recording" or len(target.hosts) == 1:
                raise
            note(str(error))
            continue
        found += [subject] if subject is not None else []
    return found


def _of_host(target: Target, host: str, version: str, flags: InstalledFlags | None) -> Subject | None:
    text = recorded(target, host, Artifact.LAUNCH)
    if not text:
        return None
    config = recorded_object(target, host, Artifact.MODEL_CONFIG)
    inner = config.get("text_config")
    layers = (inner if isinstance(inner, dict) else config).get("num_hidden_layers")
    listed = config.get("architectures")
    names = tuple(str(name) for name in listed) if isinstance(listed, list) else ()
    return Subject(
        text=text,
        version=flags.version if flags is not None and flags.from_source else version,
        host=host,
        tree=_source(target, host, names),
        flags=flags,
        architectures=names,
        layers=layers if isinstance(layers, int) else None,
        gpu=first_gpu(recorded(target, host, Artifact.GPUS)) or None,
    )


def _source(target: Target, host: str, architectures: tuple[str, ...]) -> SourceTree | None:
    """What of the installed package its rules are read in; None where it is not at hand."""
    try:
        return SourceTree.over(recorded_source(target.source(host), architectures))
    except ToolError:  # the table answers; that it does is said with the flags
        return None


def _version_of(subject: Subject, stated: str) -> str:
    """The version to check against: as asked for, as the host says, in the tree, the tag of the container's image, or
    as the words around the command say."""
    tag = _IMAGE_TAG.search(subject.text)
    package = subject.tree
    for text in (
        stated,
        subject.version,
        read_version(package) if package else "",
        tag.group(1) if tag else "",
        subject.stated,
    ):
        if parse_version(text):
            return str(parse_version(text))
        if stated and text is stated:
            break
    raise UserError("Which SGLang version is this for?", "Name it with --version 0.5.10, or give --tree DIR.")


def flags_for(subject: Subject) -> InstalledFlags:
    """The flags of the subject's own source where that declares them, otherwise of its version."""
    if subject.flags is not None:
        return subject.flags
    if subject.tree is not None and has(subject.tree, SERVER_ARGS.as_posix()):
        return flags_of_tree(subject.tree, subject.version)
    return flags_of_version(subject.version)
