"""A launch command in YAML: a Kubernetes container or a compose service."""

import re
from collections.abc import Iterator
from dataclasses import replace

import yaml

from ppagent.sglang.launch.assignments import Assignment, Kind
from ppagent.sglang.launch.regions import Escape, Meaning, Region, unescape, whole
from ppagent.sglang.launch.shell import assignment_name, commands
from ppagent.sglang.launch.site import Home, Site, find_in_shell, find_in_words
from ppagent.sglang.launch.spelling import OWN_OPTION
from ppagent.sglang.launch.words import ItemWriter, Word

_COMMAND_KEYS = ("entrypoint", "command", "args")
_LOOKS_LIKE = re.compile(r"(?:^[ \t-]*|[{,]\s*)[\"']?(?:entrypoint|command|args)[\"']?[ \t]*:", re.MULTILINE)
_YAML_ESCAPE = r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|\r?\n[ \t]*|.)"
_YAML_MEANING = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}


def is_manifest(text: str) -> bool:
    """Whether `text` looks like YAML (or JSON) with a container's command in it."""
    return _LOOKS_LIKE.search(text) is not None


def find_in_manifest(text: str) -> Site | None:
    """The first container or service of the documents that starts SGLang; None where the text is no YAML either."""
    try:
        documents = [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None]
    except yaml.YAMLError:
        return None
    containers = [node for document in documents for node in _mappings(document)]
    for container in containers:
        site = _find_in_container(text, container)
        if site is not None:
            return replace(site, form="yaml", home=_home(text, container))
    for container in containers:
        words = _words(text, container)
        told = "sglang" in text or any(OWN_OPTION.match(word.value) for word in words)
        if words and words[0].value.startswith("--") and told:
            return Site("yaml", (), words, env_assignments(text, container), home=_home(text, container))
    return None


def _home(text: str, container: yaml.MappingNode) -> Home:
    start = min(key.start_mark.index for key, _ in container.value if key.value in _COMMAND_KEYS)
    kubernetes = re.search(r"(?:^[ \t-]*|[{,]\s*)[\"']?(?:apiVersion|kind|containers)[\"']?[ \t]*:", text, re.MULTILINE)
    return Home(start, bool(container.flow_style), kubernetes is not None)


def _find_in_container(text: str, container: yaml.MappingNode) -> Site | None:
    assignments = env_assignments(text, container)
    site = find_in_words(_words(text, container), assignments, "yaml")
    scripts = [node for name in _COMMAND_KEYS if isinstance(node := child(container, name), yaml.ScalarNode)]
    for script in scripts:
        site = site or find_in_shell(scalar_region(text, script), assignments, "yaml")
    return site


def _mappings(node: yaml.Node) -> Iterator[yaml.MappingNode]:
    if isinstance(node, yaml.MappingNode):
        if any(key.value in _COMMAND_KEYS for key, _ in node.value):
            yield node
        for _, value in node.value:
            yield from _mappings(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _mappings(item)


def child(node: yaml.MappingNode, name: str) -> yaml.Node | None:
    """The value of a key."""
    return next((value for key, value in node.value if key.value == name), None)


def _words(text: str, container: yaml.MappingNode) -> tuple[Word, ...]:
    """The words of entrypoint, command and args together."""
    words: list[Word] = []
    for name in _COMMAND_KEYS:
        node = child(container, name)
        if isinstance(node, yaml.ScalarNode):
            words += _scalar_words(text, node)
        elif isinstance(node, yaml.SequenceNode):
            words += [_item(text, node, item) for item in node.value if isinstance(item, yaml.ScalarNode)]
    return tuple(words)


def _scalar_words(text: str, node: yaml.ScalarNode) -> tuple[Word, ...]:
    """The words of a command given as one string; none where it is a script of several commands."""
    found = list(commands(scalar_region(text, node), {}))
    return found[0] if len(found) == 1 else ()


def env_assignments(text: str, container: yaml.MappingNode) -> tuple[Assignment, ...]:
    """The environment of a container: Kubernetes `env`, compose `environment` as a map or as a list."""
    node = child(container, "env") or child(container, "environment")
    if isinstance(node, yaml.MappingNode):
        return tuple(_variable(text, node, key.value, value, "yaml-map") for key, value in node.value)
    if not isinstance(node, yaml.SequenceNode):
        return ()
    found = []
    for item in node.value:
        if isinstance(item, yaml.ScalarNode) and assignment_name(item.value):
            word = _item(text, node, item)
            name, _, value = item.value.partition("=")
            found.append(Assignment(name, value, word.start, word.end, "yaml-item", word.writer, after=word.end))
        elif isinstance(item, yaml.MappingNode):
            name_node, value_node = child(item, "name"), child(item, "value")
            if isinstance(name_node, yaml.ScalarNode) and value_node is not None:
                found.append(_variable(text, item, name_node.value, value_node, "yaml-pair"))
    return tuple(found)


def _variable(text: str, owner: yaml.MappingNode, name: str, node: yaml.Node, kind: Kind) -> Assignment:
    start, end = span(node)
    quote = node.style if isinstance(node, yaml.ScalarNode) and node.style in ("'", '"') else ""
    writer = ItemWriter(bool(owner.flow_style), quote, _indent(text, owner.start_mark.index))
    after = max(value.end_mark.index for _, value in owner.value) if kind == "yaml-pair" else end
    if owner.flow_style and kind == "yaml-pair":
        after = owner.end_mark.index
    opaque = not isinstance(node, yaml.ScalarNode)
    return Assignment(name, str(node.value), start, end, kind, writer, opaque, after)


def _indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    blanks = re.match(r"[ \t]*", text[line:])
    return blanks.group() if blanks else ""


def _item(text: str, sequence: yaml.SequenceNode, item: yaml.ScalarNode) -> Word:
    start, end = span(item)
    quote = item.style if item.style in ("'", '"') else ""
    writer = ItemWriter(bool(sequence.flow_style), quote, _indent(text, start))
    return Word(item.value, start, end, writer, inner=scalar_region(text, item))


def span(node: yaml.Node) -> tuple[int, int]:
    """Where a node stands in the text."""
    return node.start_mark.index, node.end_mark.index


def scalar_region(text: str, node: yaml.ScalarNode) -> Region:
    """The content of a scalar, each character with its place in the text."""
    start, end = span(node)
    match node.style:
        case "|" | ">":
            first = text.find("\n", start) + 1
            return whole(text, first, end, folded=node.style == ">")
        case "'":
            return _quoted(text, start, end, "''", lambda m: "'", "yaml-single")
        case '"':
            return _quoted(text, start, end, _YAML_ESCAPE, _yaml_escape, "yaml-double")
        case _:
            return whole(text, start, end, folded=True)


def _quoted(text: str, start: int, end: int, pattern: str, meaning: Meaning, escape: Escape) -> Region:
    inside = replace(whole(text, start + 1, end - 1, folded=True), escapes=(escape,))
    return unescape(inside, pattern, meaning)


def _yaml_escape(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] in "xu":
        return chr(int(code[1:], 16))
    return "" if code[0] in "\r\n" else _YAML_MEANING.get(code, code)
