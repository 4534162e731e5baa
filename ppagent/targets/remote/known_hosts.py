"""known_hosts, read as OpenSSH reads it: one odd line does not lose the file, and a revoked key is revoked."""

import base64
import binascii
import fnmatch
import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

KIND_ORDER = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")


@dataclass(frozen=True)
class KnownKey:
    """A key that a host is known by, and where that stands."""

    kind: str
    blob: bytes
    place: str
    revoked: bool = False


@dataclass(frozen=True)
class KnownHost:
    """What the files say of one host."""

    keys: tuple[KnownKey, ...]
    revoked: tuple[KnownKey, ...]
    authorities: int
    """Lines of certificate authorities for it, which are not used here."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of its keys, the one to ask for first in front."""
        held = {key.kind for key in self.keys}
        return tuple(kind for kind in KIND_ORDER if kind in held)


def known_host(name: str, files: Iterable[Path]) -> KnownHost:
    """All lines that concern `name` (`host`, or `[host]:port`). Files that are not there count as empty."""
    keys: list[KnownKey] = []
    authorities = 0
    for path in files:
        for number, line in enumerate(_lines(path), 1):
            words = line.split()
            marker = words.pop(0) if words and words[0].startswith("@") else ""
            if len(words) < 3 or not matches(words[0], name):
                continue
            if marker == "@cert-authority":
                authorities += 1
                continue
            try:
                blob = base64.b64decode(words[2], validate=True)
            except binascii.Error:
                continue
            keys.append(KnownKey(words[1], blob, f"{path}:{number}", revoked=marker == "@revoked"))
    good = tuple(key for key in keys if not key.revoked)
    return KnownHost(good, tuple(key for key in keys if key.revoked), authorities)


def matches(patterns: str, name: str) -> bool:
    """Whether a line's first field speaks of the host: hashed, or a list of names with wildcards and exceptions."""
    if patterns.startswith("|1|"):
        return _hash_matches(patterns, name)
    found = False
    for pattern in patterns.lower().split(","):
        bare = pattern.removeprefix("!")
        literal = bare.replace("[", "[[]")
        if fnmatch.fnmatchcase(name.lower(), literal):
            if bare != pattern:
                return False
            found = True
    return found


def fingerprint(blob: bytes) -> str:
    """As `ssh-keygen -l` prints it."""
    digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def _hash_matches(field: str, name: str) -> bool:
    try:
        salt, digest = (base64.b64decode(part, validate=True) for part in field.removeprefix("|1|").split("|"))
    except (ValueError, binascii.Error):
        return False
    return hmac.compare_digest(hmac.new(salt, name.lower().encode(), hashlib.sha1).digest(), digest)


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # a file that is not there knows no host, and then the host is unknown, which is said
        return []
    return [line if not line.lstrip().startswith("#") else "" for line in text.splitlines()]
