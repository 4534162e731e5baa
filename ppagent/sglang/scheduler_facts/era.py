"""Comparing versions where a post release made the difference: 0.5.3.post1 renamed a flag that 0.5.3 still had."""

from packaging.version import Version

from ppagent.sglang.versions import NEWEST_KNOWN, between_releases


def since(version: Version | None, bound: str) -> bool:
    """Whether `version`, post releases told apart, is `bound` or later. An unknown one counts as the newest known."""
    known = version or NEWEST_KNOWN
    if between_releases(known):
        return Version(known.public) >= Version(bound)
    post = f".post{known.post}" if known.post is not None else ""
    return Version(known.base_version + post) >= Version(bound)
