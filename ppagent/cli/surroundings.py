"""What of an account a program may find missing."""

import os
from pathlib import Path


def have_a_home() -> None:
    """An account without a home (a container's user id that no passwd file has) gets the root as its home, as container
    engines set it: what is looked for there is not found, and what is to be written there is refused in a sentence."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = os.sep
