"""The prompts: Markdown files of their own, loaded once. What a session was asked with is told by their hash."""

import hashlib
import re
from functools import cache
from importlib.resources import files

PACKAGE = "ppagent_prompts"
NAMES = ("investigate", "state", "in_text", "nudge", "chat")

_HEAD = re.compile(r"\A<!-- variables: (?P<names>[\w, ]*)-->\n+")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")


def prompt(name: str, **values: str) -> str:
    """The prompt of that name with its variables filled in. A variable too few or too many is a bug, and raises
    KeyError. What is filled in is not looked through for variables again."""
    variables, text = _loaded(name)
    if set(values) != variables:
        raise KeyError(f"prompt {name} takes {sorted(variables)}, not {sorted(values)}")
    return _VARIABLE.sub(lambda match: values[match[1]], text).strip()


def variables_of(name: str) -> frozenset[str]:
    """Names of the variables that the head of the prompt declares."""
    return _loaded(name)[0]


@cache
def prompts_sha256() -> str:
    """One hash over all prompts, names included."""
    digest = hashlib.sha256()
    for name in NAMES:
        digest.update(f"{name}\n{_text(name)}\n".encode())
    return digest.hexdigest()


@cache
def _loaded(name: str) -> tuple[frozenset[str], str]:
    text = _text(name)
    head = _HEAD.match(text)
    if head is None:
        raise KeyError(f"prompt {name} does not name its variables at the top")
    declared = frozenset(part.strip() for part in head["names"].split(",") if part.strip())
    used = frozenset(_VARIABLE.findall(text))
    if declared != used:
        raise KeyError(f"prompt {name} declares {sorted(declared)} and uses {sorted(used)}")
    return declared, text[head.end() :]


def _text(name: str) -> str:
    return (files(PACKAGE) / f"{name}.md").read_text(encoding="utf-8")
