"""Where the secret stands that follows a secret's name: quoted, bare, to the end of a line, in a list, in a block."""

import re

from ppagent.evidence.secret_names import NAME, counts_tokens, is_secret_name, speaks_of_tokens

MASK = "[masked]"

Span = tuple[int, int]

NAMED = re.compile(
    rf"""
    (?P<open>\\{{0,8}}["'])? (?P<name>{NAME}) (?P<close>(?P=open))?
    (?P<sep> \s*,\s*(?=b?\\{{0,8}}["']) | [ \t]*(?:={{1,3}}|!=)[ \t]* | [ \t]*:\s*(?=b?\\{{0,8}}["']) | [ \t]*:[ \t]*
           | (?:[ \t]|\\[ \t]*\r?\n)+ | [ \t]*\r?\n[ \t]*-[ \t]+ )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A secret's name and what separates it from a value."""

NAMED_PAIR = re.compile(
    rf"""\bname["']?\s*:\s*["']?(?P<name>{NAME})["']?\s*,?\s*["']?value["']?\s*:[ \t]*""", re.IGNORECASE
)
"""`name: HF_TOKEN` with its `value:`, as container specifications write an environment."""

_QUOTED = re.compile(
    r"""b?(?P<q>["'])(?P<value>(?:\\.|(?!(?P=q))[^\\\n])*)(?P=q)?(?P<rest>(?:["']?[\w$/+=][^\s,;:&|)}\]\\]*)?)"""
)
_ESCAPED = re.compile(r"""b?(?P<q>\\{1,8}["'])(?P<value>(?:(?!(?P=q)).)*)""")
_BLOCK = re.compile(r"[|>][+-]?[ \t]*\n(?P<indent>[ \t]+)\S.*(?:\n(?P=indent).*)*")
_LIST = re.compile(r"\[[^\]]*\]|\[[^\]\n]*")
_TO_LINE_END = re.compile(r"[^\n]+?(?=[ \t]+\#|[ \t\r]*$)", re.MULTILINE)
_TO_QUOTE = re.compile(r"""[^\n'"]+""")
_WORD = re.compile(r"\S+")
_MEMBER = re.compile(r"[^\s,}\]]+")

_NOTHING = re.compile(r"(?:none|null|nil|true|false|nan|<[^<>]*>|\*+|\[masked\]|redacted)?", re.IGNORECASE)
_COUNT = re.compile(r"[-+~#(]{0,2}\d[\d.,_:e+-]{0,18}[A-Za-z%/]{0,6}")
_REFERENCE = re.compile(r"\$(?:[A-Z_][A-Z0-9_]*|\{[A-Z_][A-Z0-9_]*\}|\(.*)")
_BELOW = re.compile(
    r"\r?\n(?P<indent>[ \t]{1,80})(?P<value>(?:-[ \t]{1,20})?(?P<words>[^\s#{|>-][^\n#]{0,2000}?))"
    r"[ \t\r]{0,20}(?:[ \t]\#[^\n]*)?$",
    re.MULTILINE,
)
"""The lengths keep the search from growing with the square of a text."""
_MORE_ITEMS = re.compile(r"(?:\r?\n[ \t]+-[ \t]+[^\s:]+(?=[ \t\r]*$))*", re.MULTILINE)
_LONE = re.compile(r"[^\n#]+?(?=[ \t\r]*(?:#|$))", re.MULTILINE)
_MANY_WORDS = re.compile(r"pass(?:w|phrase)", re.IGNORECASE)
_LOOK_BACK = 120
_OPENS_LINE = re.compile(r"(?:\A|\n)[ \t-]*\Z")
_CLOSERS = ",;)}]'\"`"


def value_after(text: str, match: re.Match[str]) -> Span | None:
    """Span of the secret after a match of `NAMED`; None where no secret follows."""
    name, sep = match["name"], match["sep"].strip(" \t\r\n\\")
    compares = sep.endswith("=") and sep != "="  # a line of a program: `api_key == "..."`
    sep = "=" if compares else sep
    quoted_name = match["close"] is not None
    if not is_secret_name(name) or speaks_of_tokens(
        text[max(0, match.start("name") - _LOOK_BACK) : match.start("name")], name
    ):
        return None
    if sep not in ("=", ":") and not _may_follow(text.startswith("-", match.end()), name, sep, quoted_name):
        return None
    if sep == "=" and match["open"] and not quoted_name:
        return _bare(text, re.compile(rf"(?:(?!{re.escape(match['open'])})[^\n])+").match(text, match.end()), name)
    if sep and match.end() < len(text) and text[match.end()] in "\r\n":
        return None if compares else _below(text, match)
    if _is_header(name) and sep == ":" and not quoted_name:
        return _bare(text, _TO_QUOTE.match(text, match.end()), name)
    if quoted_name:
        return secret_at(text, match.end(), name, _MEMBER)
    before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
    whole_line = sep == ":" and not counts_tokens(name) and _OPENS_LINE.search(before) is not None
    return secret_at(text, match.end(), name, _TO_LINE_END if whole_line else _WORD, prose=sep == ":")


def _below(text: str, match: re.Match[str]) -> Span | None:
    """Span of a value that stands alone on the next line, further in than its name, as YAML allows; or of a list."""
    name = match["name"]
    lead = _OPENS_LINE.search(text[max(0, match.start() - _LOOK_BACK) : match.start()])
    found = _BELOW.match(text, match.end())
    if lead is None or found is None or len(found["indent"]) <= len(lead.group().strip("\r\n")):
        return None
    words = found["words"]
    if words.endswith(":") or (len(words.split()) > 1 and (not _MANY_WORDS.search(name) or re.search(r":\s|=", words))):
        return None
    start, stop = found.span("words")
    if found["value"].startswith("-"):
        more = _MORE_ITEMS.match(text, stop)
        return found.start("value"), more.end() if more else stop
    return secret_at(text, start, name, _LONE, prose=match["sep"].strip() == ":")


def pair_value_after(text: str, match: re.Match[str]) -> Span | None:
    """Span of the value after a match of `NAMED_PAIR`."""
    return secret_at(text, match.end(), match["name"], _MEMBER) if is_secret_name(match["name"]) else None


def harmless(name: str, value: str, *, prose: bool = False) -> bool:
    """Whether what stands where a secret would is none: nothing, a number of tokens, a reference to a variable.

    `prose`: the value follows a colon, so that it may be the next word of a sentence.
    """
    if _NOTHING.fullmatch(value) or (value.startswith(MASK) and not value[len(MASK) :].strip(_CLOSERS)):
        return True
    if not prose and _REFERENCE.fullmatch(value):
        return True
    if not counts_tokens(name):
        return False
    next_word = prose and name.lower() == "token" and value.isalpha() and value.islower() and len(value) < 12
    return next_word or _COUNT.fullmatch(value.rstrip(_CLOSERS + ".:")) is not None


def secret_at(text: str, start: int, name: str, bare: re.Pattern[str], *, prose: bool = False) -> Span | None:
    """Span of the secret that begins at `start`; one without quotes is read by `bare`."""
    if quoted := _ESCAPED.match(text, start) or _QUOTED.match(text, start):
        if quoted.groupdict().get("rest"):
            return quoted.span()
        return None if harmless(name, quoted["value"]) else quoted.span("value")
    if text.startswith("{", start):
        return None
    if several := _BLOCK.match(text, start) or _LIST.match(text, start):
        return None if several.group().startswith(MASK) else several.span()
    return _bare(text, bare.match(text, start), name, prose=prose)


def _bare(text: str, match: re.Match[str] | None, name: str, *, prose: bool = False) -> Span | None:
    """The span of a value without quotes, less the punctuation that closes what it stands in."""
    if match is None:
        return None
    value = match.group().strip()
    kept = value if harmless(name, value, prose=prose) else value.rstrip(_CLOSERS)
    if not kept or harmless(name, kept, prose=prose):
        return None
    start = match.start() + len(match.group()) - len(match.group().lstrip())
    return start, start + len(kept)


def _may_follow(option_follows: bool, name: str, sep: str, quoted_name: bool) -> bool:
    """Whether a value can follow where neither `=` nor `:` stands between: after an option, in a pair of strings."""
    if sep == ",":
        return quoted_name and (name.startswith("-") or _is_header(name))
    return name.startswith("-") and not option_follows


def _is_header(name: str) -> bool:
    return name.lower().endswith(("authorization", "cookie"))
