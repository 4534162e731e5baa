"""SGLang's version as people and package lists write it: `SGLang 0.5.11`, `sglang==0.5.11`, `sglang:v0.5.11-cu126`."""

import re

_VERSION = re.compile(
    r"\bSGLang(?:\s*(?:==|[:=@(])\s*|[\s|-]+)(?:version\s*[:=]?\s*)?"
    r"(?:(?:(?:official|docker|image|container|release|build|tag|is|on|at|in|the|latest)\s+){1,3}"
    r"(?:v(?=\d)|(?=\d+\.\d+\.\d))|\"?v?)"  # behind words a plain decimal is no version: "SGLang at 1.2 req/s"
    r"(?P<version>\d+\.\d+(?:\.\d+)?(?:\.?(?:post|rc|dev)\d+)?)(?![\d]|\.\d|x\b|\s*(?:times|x|%))",
    re.IGNORECASE,
)


def stated_version(text: str) -> str:
    """The first version of SGLang that `text` names; empty where it names none."""
    found = _VERSION.search(text)
    return found["version"] if found is not None else ""
