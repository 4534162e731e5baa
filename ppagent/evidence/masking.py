"""Secrets are masked before anything is stored, shown or sent to a model.

Two kinds are known: by name (`api_key='...'`, `--admin-api-key ...`, `HF_TOKEN=...`, `"password": "..."`), whatever the
value looks like, and by shape (`sk-...`, `hf_...`, `AKIA...`, JSON web tokens, a login in a URL), whatever it is
called. SGLang prints `api_key` and `admin_api_key` unmasked in its `server_args=` line and in `/server_info`.
"""

import re
from collections.abc import Callable

from ppagent.evidence.evidence import FactValue
from ppagent.evidence.secret_names import counts_tokens, is_secret_name
from ppagent.evidence.secret_values import MASK, NAMED, NAMED_PAIR, Span, harmless, pair_value_after, value_after

__all__ = ["MASK", "mask", "mask_shapes", "mask_value"]

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\Z)"
)
"""Masked before all else: a name in front of its first line would take that line, and the rest would be words."""
_SHAPES = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:
        sk-[A-Za-z0-9_-]{12,} | hf_[A-Za-z0-9]{20,} | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_\w{20,}
        | gl(?:pat|rt|dt|cbt|soat|ptt|ft|imt|agent)-[\w-]{16,} | xox[abceprs]-[\w-]{10,} | xapp-\d-[\w-]{10,}
        | (?:AKIA|ASIA)[0-9A-Z]{12,} | AIza[\w-]{30,} | ya29\.[\w-]{20,} | GOCSPX-[\w-]{20,} | nvapi-[\w-]{20,}
        | (?:gsk|npm|r8|pypi|dop_v1|tgp_v1|dckr_pat|lsv2_[ps]t|whsec|[spr]k_(?:live|test)|glsa|shp(?:at|ca|pa|ss))_
          [A-Za-z0-9_]{20,}
        | (?:pypi-AgE|xai-|pplx-|tskey-[a-z]+-|AGE-SECRET-KEY-1)[\w-]{20,} | hv[sbr]\.[\w-]{20,}
        | SG\.[\w-]{16,}\.[\w-]{16,} | (?:dapi|SK)[0-9a-f]{32}(?![0-9A-Za-z]) | \d{8,10}:AA[\w-]{30,}
        | eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*
      )
    | (?<=hooks\.slack\.com/services/)[\w/-]{10,} | (?<=/api/webhooks/)\d{5,}/[\w-]{10,}
    | (?i:(?<=[?&]sig=)|(?<=[?&]signature=)|(?<=[?&]x-amz-signature=)|(?<=[?&]x-goog-signature=))[\w%+/=-]{16,}
    | (?i:(?<=bearer[ ]))(?=[^\s'",]*[0-9A-Z]|[^\s'",]{20})[A-Za-z0-9._~+/=-]{8,}
    """,
    re.VERBOSE,
)
_LOGIN = re.compile(
    r"""(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://)
    (?P<login>[^\s/'"<>]{0,300} | [^\s/'"<>:@]{0,100}:(?!\d{1,5}[/?#])[^\s'"<>@]{0,200})@""",
    re.VERBOSE,
)
"""A password may hold a slash, a port none. The lengths keep the search from growing with the square of a text."""
_BARE_LOGIN = re.compile(
    r"""(?<![\w/:.@-])([A-Za-z_][\w.-]{0,60}:)(?!\d{1,5}@)[^\s/@:'"<>]{6,200}@(?=[\w.-]+(?::\d|\.\w))"""
)
"""A login without a scheme, as in `user:password@proxy:3128`."""
_LOGIN_OPTION = re.compile(r"(?<=\s)(-u|--user|--proxy-user)([ \t]+|=)(['\"]?)(?!\d+:\d+\b)[^\s:'\"]+:[^\s'\"]+")


def mask(text: str) -> str:
    """`text` with every secret that is recognised by its name or its shape replaced. Masking twice changes nothing."""
    text = _mask_found(_PRIVATE_KEY.sub(MASK, text), NAMED_PAIR, pair_value_after)
    return mask_shapes(_mask_found(text, NAMED, value_after))


def mask_shapes(text: str) -> str:
    """`text` with what has the shape of a secret replaced; names count for nothing. For program text, where a secret's
    name stands for a variable and what follows it is code."""
    text = _SHAPES.sub(MASK, _PRIVATE_KEY.sub(MASK, text))
    text = _LOGIN_OPTION.sub(rf"\1\2\3{MASK}", text)
    return _LOGIN.sub(_without_login, _BARE_LOGIN.sub(rf"\1{MASK}@", text))


def mask_value(name: str, value: FactValue) -> FactValue:
    """A fact's value with secrets masked: whole where `name` is a secret's name, else wherever they stand inside."""
    if is_secret_name(name):
        return _mask_whole(name, value)
    match value:
        case str():
            return mask(value)
        case list():
            return _mask_list(name, value)
        case dict():
            named = value.get("name")
            pair = isinstance(named, str) and is_secret_name(named)
            names = {key: str(named) if pair and key == "value" else key for key in value}
            return {mask(key): mask_value(names[key], item) for key, item in value.items()}
        case _:
            return value


def _mask_whole(name: str, value: FactValue) -> FactValue:
    match value:
        case bool() | None:
            return value
        case list():
            return [_mask_whole(name, item) for item in value]
        case dict():
            return {mask(key): _mask_whole(name, item) for key, item in value.items()}
        case int() | float():
            return value if counts_tokens(name) else MASK
        case str():
            return value if harmless(name, value) else MASK


def _mask_list(name: str, values: list[FactValue]) -> FactValue:
    """Items of a list; in an argument list the word after a secret option is a secret."""
    masked: list[FactValue] = []
    option = ""
    for item in values:
        masked.append(_mask_whole(option, item) if option else mask_value(name, item))
        option = item if isinstance(item, str) and item.startswith("-") and is_secret_name(item) else ""
    return masked


def _mask_found(text: str, pattern: re.Pattern[str], value_of: Callable[[str, re.Match[str]], Span | None]) -> str:
    """`text` with the value behind every match of `pattern` masked, where there is one."""
    out: list[str] = []
    at = 0
    while match := pattern.search(text, at):
        start, stop = value_of(text, match) or (match.end("name"), match.end("name"))
        out += (text[at:start], MASK) if stop > start else (text[at:start],)
        at = stop
    return "".join((*out, text[at:]))


def _without_login(match: re.Match[str]) -> str:
    """A user name alone is kept (`ssh://me@host`), except in web addresses, where it may be an access token."""
    login = match["login"]
    web = match["scheme"].lower().startswith("http")
    if not login or login == MASK or (":" not in login and not web):
        return match.group()
    return f"{match['scheme']}{MASK}@"
