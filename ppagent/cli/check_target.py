"""What `ppagent check` looks at: launch commands with what is known of the server they are for."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ppagent.cli.recorded import first_gpu, named_text, piped_text, recorded, recorded_object, recorded_version
from ppagent.errors import NotRecorded, UserError
from ppagent.sglang.flags.catalogue import read_catalogue
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.flags.source import SERVER_ARGS, SourceTree, read_version
from ppagent.sglang.launch.find import find_launch
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.scheduler_facts.code import open_tree
from ppagent.sglang.versions import parse_version
from ppagent.targets.open import named_path
from ppagent.targets.source_files import SourceFiles
from ppagent.targets.target import Artifact, Target

_IMAGE_TAG = re.compile(r"sglang:v?(\d+\.\d+\.\d+(?:\.?post\d+)?)")


@dataclass(frozen=True)
class Subject:
    """One launch command and its surroundings, as far as they are known. `host` is empty for a bare command."""

    text: str
    version: str = ""
    host: str = ""
    tree: Path | None = None
    architectures: tuple[str, ...] = ()
    layers: int | None = None
    gpu: str | None = None


def subjects(target: str, version: str | None, tree: Path | None) -> tuple[Subject, ...]:
    """What TARGET names: a recording's launches, a file with one, pasted text, or a command.

    A version or tree that was asked for counts before what a recording says. Raises UserError where there is no
    launch command, or no version can be told.
    """
    found = [replace(one, tree=tree or (None if version else one.tree)) for one in _named(target)]
    package = open_tree(tree)
    if tree is not None and package is None:
        raise UserError(f"{tree} is not the sglang package.", "Name the folder that holds sglang/srt, or srt itself.")
    stated = version or (read_version(package) if package else "")
    return tuple(replace(one, version=_version_of(one, stated)) for one in found)


def _named(target: str) -> list[Subject]:
    path = named_path(target) if "\n" not in target and len(target) < 500 else None
    if path is not None and path.is_dir():
        return _recorded(target)
    if target == "-":
        return [Subject(piped_text())]
    if path is not None and path.is_file():
        return [Subject(named_text(path))]
    try:
        find_launch(target)
    except NoLaunchCommand as error:
        if " " in target.strip():
            raise
        raise UserError(f"There is no file or folder {target}.", error.advice) from None
    return [Subject(target)]


def _recorded(folder: str) -> list[Subject]:
    from ppagent.targets.open import open_target

    target = open_target(folder)
    found = [subject for host in target.hosts if (subject := _of_host(target, host)) is not None]
    if not found:
        raise UserError(f"No launch command was recorded in {folder}.", "Give the command itself, in quotes.")
    return found


def _of_host(target: Target, host: str) -> Subject | None:
    text = recorded(target, host, Artifact.LAUNCH)
    if not text:
        return None
    config = recorded_object(target, host, Artifact.MODEL_CONFIG)
    inner = config.get("text_config")
    layers = (inner if isinstance(inner, dict) else config).get("num_hidden_layers")
    names = config.get("architectures")
    return Subject(
        text=text,
        version=recorded_version(target, host),
        host=host,
        tree=_source(target, host),
        architectures=tuple(str(name) for name in names) if isinstance(names, list) else (),
        layers=layers if isinstance(layers, int) else None,
        gpu=first_gpu(recorded(target, host, Artifact.GPUS)) or None,
    )


def _source(target: Target, host: str) -> Path | None:
    try:
        source = target.source(host)
    except NotRecorded:
        return None
    return source.root if isinstance(source, SourceFiles) else None


def _version_of(subject: Subject, stated: str) -> str:
    """The version to check against: as stated, as recorded, in the tree, or the tag of the container's image."""
    tag = _IMAGE_TAG.search(subject.text)
    package = open_tree(subject.tree)
    for text in (stated, subject.version, read_version(package) if package else "", tag.group(1) if tag else ""):
        if parse_version(text):
            return str(parse_version(text))
        if stated and text is stated:
            break
    raise UserError("Which SGLang version is this for?", "Name it with --version 0.5.10, or give --tree DIR.")


def catalogue_for(subject: Subject) -> Catalogue:
    """The flags of the subject's own source where that declares them whole, otherwise of its version."""
    package = open_tree(subject.tree)
    if package is not None and _declares_flags(package):
        read = read_catalogue(package.package)
        if not read.unread:
            return read
    return catalogue_of(subject.version)


def _declares_flags(package: SourceTree) -> bool:
    return (package.package / SERVER_ARGS).is_file()
