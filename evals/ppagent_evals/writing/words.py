"""Flag values as shell words and as arguments."""

import shlex


def shell_words(value: str) -> list[str]:
    """A flag's value as shell words: nothing for a switch, several for a list of numbers."""
    if value == "true":
        return []
    parts = value.split()
    return parts if all(part.isdigit() for part in parts) else [shlex.quote(value)]


def field_value(text: str) -> object:
    """A flag's value as the argument that it becomes."""
    if text == "true":
        return True
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    parts = text.split()
    return [int(p) for p in parts] if len(parts) > 1 and all(p.isdigit() for p in parts) else text
