"""`ppagent explain`: the page of a cause, and the list of them, in the columns there are."""

import textwrap

from ppagent.causes.catalog import page
from ppagent.causes.cause import Cause
from ppagent.report.room import columns

INDENT = "    "


def page_text(cause: Cause) -> str:
    """The page: headings, and under each a paragraph."""
    blocks = page(cause).split("\n\n")
    return "\n\n".join(_block(block.split("\n")) for block in blocks)


def listed(cause: Cause) -> list[str]:
    """A line of the list of causes."""
    return textwrap.wrap(f"{cause.id}  {cause.name}", columns(), subsequent_indent=" " * 7)


def _block(lines: list[str]) -> str:
    """A heading stays as it is; what stands indented under it is one paragraph."""
    heads = [line for line in lines if not line.startswith(INDENT)]
    text = " ".join(line.strip() for line in lines if line.startswith(INDENT))
    filled = textwrap.wrap(
        text,
        columns(),
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([*heads, *filled])
