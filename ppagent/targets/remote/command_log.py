"""Further commands of a host, as they were run: the rows of commands.jsonl."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from ppagent.errors import NotRecorded
from ppagent.evidence.masking import mask
from ppagent.targets.remote.forms import masked_words
from ppagent.targets.remote.link import Link, Ran, run

LARGEST = 1 << 20


class CommandLog:
    """Runs commands and notes them down, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._rows: list[str] = []

    def run(self, link: Link, argv: Sequence[str], timeout_s: float) -> Ran:
        place = len(self._rows)
        self._rows.append("")
        ran = run(link, argv, timeout_s=timeout_s, limit=LARGEST)
        self._rows[place] = _row(argv, ran)
        return ran

    def text(self) -> str:
        """commands.jsonl. Raises NotRecorded where no command was run."""
        rows = [row for row in self._rows if row]
        if not rows:
            raise NotRecorded("no further command was run")
        return "\n".join((*rows, ""))


def _row(argv: Sequence[str], ran: Ran) -> str:
    told = {
        "argv": masked_words(argv),
        "exit": ran.exit,
        "stdout": mask(ran.text),
        "stderr": mask(ran.stderr.decode("utf-8", errors="replace")),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(told, ensure_ascii=False)
