"""The clipboard of the terminal that the person sits at, over ssh and through tmux or screen: OSC 52."""

import base64
import os
import subprocess
from collections.abc import Mapping

LARGEST_BYTES = 74_994
"""What xterm takes, the least generous of the common terminals: 100,000 characters of base64 and the frame."""

SCREEN_CHUNK = 512
"""GNU screen passes on strings of 768 characters at the most."""


def osc52(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The sequence that puts `text` on the clipboard; empty where it is too long for terminals to take.

    Inside tmux it is sent twice: as it is, for `set-clipboard on`, which also fills tmux's own buffer, and wrapped, for
    `allow-passthrough on`. Which of them is set cannot be asked without waiting for an answer; both do no harm.
    """
    environ = os.environ if environ is None else environ
    raw = text.encode("utf-8", "backslashreplace")
    if len(raw) > LARGEST_BYTES:
        return ""
    plain = f"\x1b]52;c;{base64.b64encode(raw).decode('ascii')}\x07"
    if environ.get("TMUX"):
        return plain + _through_tmux(plain)
    if environ.get("STY"):
        return _through_screen(plain)
    return plain


def tmux_buffer(text: str, environ: Mapping[str, str] | None = None) -> bool:
    """Hands `text` to the tmux around this session, which passes it on to the terminal's clipboard; False where there
    is none, or it is older than 3.2. This works with tmux as it is shipped, where programs may not set the clipboard
    themselves."""
    environ = os.environ if environ is None else environ
    if not environ.get("TMUX"):
        return False
    raw = text.encode("utf-8", "backslashreplace")
    try:
        done = subprocess.run(
            ["tmux", "load-buffer", "-w", "-"], input=raw, capture_output=True, timeout=2, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _through_tmux(sequence: str) -> str:
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


def _through_screen(sequence: str) -> str:
    chunks = (sequence[at : at + SCREEN_CHUNK] for at in range(0, len(sequence), SCREEN_CHUNK))
    return "".join(f"\x1bP{chunk}\x1b\\" for chunk in chunks)
