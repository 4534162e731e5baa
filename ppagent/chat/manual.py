"""The part of docs/chat.md that is made from the registry: `python -m ppagent.chat.manual` prints it."""

import sys

from ppagent.chat.commands.registry import COMMANDS

BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"


def command_table() -> str:
    """Every command as a row of a Markdown table."""
    rows = ["| command | what it does |", "| --- | --- |"]
    for command in COMMANDS:
        synopsis = command.synopsis.replace("|", "\\|")
        rows.append(f"| `{synopsis}` | {command.does} |")
    return "\n".join(rows)


def with_commands(page: str) -> str:
    """The page with its table as the registry has it. Raises ValueError where the page does not mark its place."""
    before, found, rest = page.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not (found and closed):
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{BEGIN}\n{command_table()}\n{END}{after}"


if __name__ == "__main__":
    sys.stdout.write(f"{command_table()}\n")
