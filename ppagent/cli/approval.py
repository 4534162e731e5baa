"""Asks the person at the terminal whether a tool may disturb the server."""

import sys

from ppagent.agent.approvals import GRADE_MEANS, Request
from ppagent.cli.common import says_yes
from ppagent.report.plain import plain, plain_command


def ask_person(request: Request) -> bool:
    """Yes only where the person types y. Ctrl-C and the end of the input mean no, and end nothing else."""
    sys.stderr.write(
        f"\n{request.tool} (grade {request.grade}: {GRADE_MEANS[request.grade]})\n"
        f"{_indented(request.does)}\n  asked because {plain(request.why)}\n"
    )
    return says_yes("  allow it? [y]es, [n]o: ")


def _indented(text: str) -> str:
    """All of it, line by line: a diff that is cut short is no diff to agree to."""
    return "\n".join(f"  {line}" for line in plain_command(text).split("\n"))
