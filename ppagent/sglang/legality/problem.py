"""What is wrong with a launch command for one version."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["refused", "ignored", "warning"]


@dataclass(frozen=True)
class Problem:
    """`refused`: the server would not start, or not serve. `ignored`: what was asked does not take effect.
    `warning`: it starts, with something the user should know."""

    kind: Kind
    flag: str
    """The flag or variable it is about, as the user wrote it."""
    says: str
    write_instead: str = ""
    """Words for the command line, or an instruction; empty where nothing has to be written."""
    source: str = ""
    """Where SGLang decides it: file and function, and whether read in a tree or known by version."""
