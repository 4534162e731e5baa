"""What bench_serving says while it runs: lines, and among them its own bar, which a carriage return begins anew.

The bar is tqdm's on its standard error, `25%|##5   | 10/40 [00:01<00:03]`, where requests that failed count as done too
(`sglang/benchmark/serving.py` of 0.5.23, `bench_serving.py` before 0.5.15).
"""

import re
from collections.abc import Callable

from ppagent.evidence.masking import mask

MOST_KEPT = 4096
_BAR = re.compile(r"\|\s*(\d+)/\d+ \[[^\]]*\]")
_TOLD = ("Starting ", "Warmup ", "Waiting ", "Server ready")
"""Lines that say how far it is; the rest is its arguments and its table, which is made anew."""

Say = Callable[[str], None]
Done = Callable[[int], None]


class Output:
    """Output as it comes. `say` is told each line that says how far it is, `done` how many requests have ended."""

    def __init__(self, say: Say = lambda line: None, done: Done = lambda count: None) -> None:
        self._say, self._done = say, done
        self._rest = b""
        self._last = ""

    def take(self, piece: bytes) -> None:
        """Some more of it."""
        *lines, rest = re.split(rb"[\r\n]+", self._rest + piece)
        bar = _BAR.search(_text(rest))
        if bar is not None and bar.end() == len(_text(rest).rstrip()):  # a bar is whole before the next one begins
            lines, rest = [*lines, rest], b""
        self._rest = rest
        for line in lines:
            self._line(_text(line).strip())

    @property
    def end(self) -> str:
        """The end of it on one line, without the bar."""
        return end_of(self._last + _text(self._rest))

    def _line(self, line: str) -> None:
        bar = _BAR.search(line)
        if bar is not None:
            self._done(int(bar[1]))
            line = line[bar.end() :].strip()  # what follows an interrupted bar, such as why it ends
        if not line:
            return
        self._last = f"{self._last}{line}\n"[-MOST_KEPT:]
        if line.startswith(_TOLD):
            self._say(line)


def end_of(text: str) -> str:
    """The end of an output, on one line, no key in it."""
    return mask(" ".join(text[-300:].split()))


def _text(line: bytes) -> str:
    return line.decode("utf-8", errors="replace")
