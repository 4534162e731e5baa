"""What was changed inside a container since it was made: a new one begins from the image, without that."""

import re
from collections.abc import Iterable

_NO_LOSS = re.compile(
    r"^/(?:tmp|run|proc|sys|dev|var/(?:tmp|run|log|cache|lib/systemd))(?:/|$)"
    r"|^/(?:etc|root)$|^/etc/(?:hosts|hostname|resolv\.conf|mtab|\.pwd\.lock|ld\.so\.cache)$"
    r"|/__pycache__(?:/|$)|\.pyc$|/\.(?:triton|nv|inductor_cache|bash_history|python_history|lesshst)(?:/|$)"
    r"|/\.cache/(?!huggingface(?:/|$)|modelscope(?:/|$))|/\.cache/huggingface/(?:token|stored_tokens|xet)?$"
    r"|/torchinductor_|/\.config/(?:matplotlib|vllm)(?:/|$)"
)
"""Caches that are filled again by themselves, in seconds to minutes, and what every run writes. A model is none."""
MOST_SHOWN = 3


def lost_by_a_new_one(diff: str, mounted: Iterable[str]) -> tuple[str, ...]:
    """The paths out of `docker diff` that a new container would lack. Those that every run makes are left out, and so
    are the places where something is `mounted`, which show as empty folders."""
    paths = {line[2:].strip() for line in diff.splitlines() if line[1:2] == " "}
    inner = paths | set(mounted)
    folders = {path[: at.start()] for path in inner for at in re.finditer("/", path) if at.start()} | set(mounted)
    return tuple(sorted(path for path in paths if path not in folders and not _NO_LOSS.search(path)))
