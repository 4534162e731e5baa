"""SGLang versions: parsing and comparing. Facts that depend on them live in the modules that use them."""

import re
from functools import lru_cache

from packaging.version import InvalidVersion, Version

OLDEST_KNOWN = Version("0.4.7")
NEWEST_KNOWN = Version("0.5.23")
LONGEST = 64


@lru_cache(maxsize=256)
def parse_version(text: str) -> Version | None:
    """The version in `text` ("0.5.10", "v0.5.10.post1", "sglang 0.5.9+cu130"), or None where there is none: 0.0.0 is
    what a build without git tags calls itself (`fallback_version` of its pyproject.toml)."""
    match = re.search(r"\d+\.\d+[0-9A-Za-z.+]*", text)
    if match is None or len(match.group()) > LONGEST:
        return None
    try:
        version = Version(match.group().rstrip("."))
    except InvalidVersion:
        return None
    return version if any(version.release) else None


def release(version: Version) -> Version:
    """`version` without post, dev, local and candidate parts: 0.5.10.post1 behaves like 0.5.10."""
    return Version(version.base_version)


def between_releases(version: Version) -> bool:
    """Whether `version` was built from source between two releases (0.5.11.dev0+g1a2b3c4), or before one (0.5.11rc1).
    It counts as the release before it: what came in between is not known."""
    return version.is_prerelease


def at_least(version: Version | None, bound: str) -> bool | None:
    """Whether `version` is `bound` or later; None when the version is unknown."""
    if version is None:
        return None
    return (Version(version.public) if between_releases(version) else release(version)) >= Version(bound)
