"""How wide what is printed may be."""

import shutil

NARROWEST, USUAL = 40, 80


def columns(widest: int = USUAL) -> int:
    """Columns to write for: those of the terminal or of `COLUMNS`, at most `widest`; 80 into a pipe or a file."""
    return max(NARROWEST, min(shutil.get_terminal_size((USUAL, 24)).columns, widest))
