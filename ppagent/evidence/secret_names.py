"""Which names are those of secrets, and which only sound like it: `hf_token` is one, `new_token` counts tokens."""

import re

_ENDS = (
    r"(?:api[ _-]?key|access[_-]?key(?:[_-]?id)?"
    r"|(?:secret|private|signing|encryption|master|account|watermark|openai|anthropic|azure|storage|shared|auth|kaggle|hf)"
    r"[_-]?key"
    r"|connection[_-]?string|webhook(?:[_-]?url)?|_pat"
    r"|secret|passw(?:or)?d|passphrase|[_.-]pwd|credential|(?:basic|proxy)[_-]?auth|authorization|cookie|token)"
)
_COUNTED = frozenset(
    """
    per first inter num number new cached pending input output prompt total max min last next draft accept accepted
    bonus full swa mamba decode prefill bos eos pad unk cls sep mask image video audio stop special think begin end
    single each every time gen generated used free extend verify text one a this
    """.split()  # noqa: SIM905 - a list of quoted words would be harder to read
)

NAME = (
    rf"(?<![A-Za-z0-9_.-])(?:[A-Za-z0-9_.-]{{0,80}}?{_ENDS}(?:(?<!token)s)?(?:_?(?:b|b64|base64|\d{{1,3}}))?"
    r"|--[A-Za-z0-9][\w-]{0,60}[_-]key|(?-i:[A-Z][A-Z0-9_]{1,60}_KEY))(?![\w-])"
)
"""A secret's name as it stands in text, dashes of an option included; options and variables of any key are."""

_NAME = re.compile(NAME, re.IGNORECASE)
_PART = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_WORD_BEFORE = re.compile(r"([A-Za-z]+|#)[ \t]*\Z")


def is_secret_name(name: str) -> bool:
    """Whether a thing of that name is secret: an option, a field, a variable, a header; `launch.` and `env.` too."""
    if _NAME.fullmatch(name) is None:
        return False
    parts = [part.lower() for part in _PART.findall(name)]
    return not (parts[-1:] == ["token"] and set(parts[-2:-1]) & _COUNTED)


def counts_tokens(name: str) -> bool:
    """Whether a number under that name may be a number of tokens."""
    return re.search(r"token\d*\Z", name, re.IGNORECASE) is not None


def speaks_of_tokens(before: str, name: str) -> bool:
    """Whether the words in front make a bare `token` one that is counted: `#token`, `per token`, `first token`."""
    if name.lower() != "token":
        return False
    word = _WORD_BEFORE.search(before[-40:])
    return word is not None and (word[1] == "#" or word[1].lower() in _COUNTED)
