"""What a flag's help text says about its end: SGLang marks many deprecated flags only there."""

import re

_DEPRECATED = re.compile(r"^\W*(?:note:?\s*)?(?:--[\w-]+ is )?(?:deprecated|removed)\b", re.IGNORECASE)
_REPLACEMENT = re.compile(
    r"""\b(?:use|set)\s+[`'"]?                              # "Use X instead", "please set `X` to 'y'"
        (?P<flag>--[a-z][\w-]*(?:=[\w.]+|[ ][\w.]+(?=['"`)]))?
          |SGLANG_\w+(?:=\w+)?(?:\s+and\s+SGLANG_\w+(?:=\w+)?)*)
        (?![\w-]|\s+to\s)                                  # not "use X to do something else"
        (?:[`'"]\s+to\s+'(?P<value>[\w.]+)')?""",
    re.IGNORECASE | re.VERBOSE,
)
_ALIAS = re.compile(r"\balias (?:for|of) [`'\"]?(--[a-z][\w-]*(?:[= ][\w.]+)?)", re.IGNORECASE)


def says_deprecated(text: str) -> bool:
    """Whether the help text opens by calling the flag deprecated or removed."""
    return bool(_DEPRECATED.match(text))


def replacement_in(text: str) -> str | None:
    """The flag or setting that the text says to use instead."""
    alias = _ALIAS.search(text)
    if alias:
        return alias.group(1).rstrip(".")
    found = _REPLACEMENT.search(text)
    if not found:
        return None
    return f"{found['flag']}={found['value']}" if found["value"] else found["flag"].rstrip(".")
