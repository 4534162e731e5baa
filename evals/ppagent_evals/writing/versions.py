"""Comparing SGLang versions."""

from functools import lru_cache

from packaging.version import Version


@lru_cache(maxsize=256)
def parsed(version: str) -> Version:
    return Version(version)


def since(version: str, bound: str) -> bool:
    """Whether `version` is `bound` or later; post releases count after their release."""
    return parsed(version) >= parsed(bound)


def until(version: str, bound: str) -> bool:
    """Whether `version` is `bound` or earlier."""
    return parsed(version) <= parsed(bound)
