"""What real life does to a log, a table and a folder before somebody looks at it."""

import random
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

Lines = list[str]
Spoil = Callable[[Path], None]
"""Makes a copy of a recording worse, in place."""

TAIL_LINES = 200
OTHER_ZONE = timedelta(hours=9)
READY = "The server is fired up"
HTTP = ("server_info.json", "loads.json", "metrics")
"""What only a server that answers gives."""

_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}")


def _first_half(lines: Lines) -> Lines:
    return lines[: len(lines) // 2]


def _second_half(lines: Lines) -> Lines:
    return lines[len(lines) // 2 :]


def _shuffled(lines: Lines) -> Lines:
    mixed = list(lines)
    random.Random(len(lines)).shuffle(mixed)
    return mixed


def _thinned(lines: Lines) -> Lines:
    return [line for n, line in enumerate(lines) if n % 3]


def _cut_in_a_line(lines: Lines) -> Lines:
    text = "".join(lines)
    return [text[: len(text) * 2 // 3]]


def _rotated(lines: Lines) -> Lines:
    """The start-up went with the log before; without a ready line, the first third did."""
    ready = next((n + 1 for n, line in enumerate(lines) if READY in line), len(lines) // 3)
    return lines[ready:]


def _tail(lines: Lines) -> Lines:
    return lines[-TAIL_LINES:]


def _interleaved(lines: Lines) -> Lines:
    """Ranks that write to one stream: neighbours swap places, over eight lines at most."""
    order, mixed = random.Random(len(lines)), list[str]()
    for start in range(0, len(lines), 8):
        block = lines[start : start + 8]
        order.shuffle(block)
        mixed += block
    return mixed


def _doubled(lines: Lines) -> Lines:
    return [line for line in lines for _ in range(2)]


def _crlf(lines: Lines) -> Lines:
    return [line.rstrip("\n") + "\r\n" for line in lines]


def _other_zone(lines: Lines) -> Lines:
    """This host's clock runs nine hours ahead of all others."""
    return [_STAMP.sub(_later, line) for line in lines]


def _later(stamp: re.Match[str]) -> str:
    text = stamp[0]
    form = f"%Y-%m-%d{text[10]}%H:%M:%S"
    return (datetime.strptime(text, form) + OTHER_ZONE).strftime(form)


LOG_SPOILERS: dict[str, Callable[[Lines], Lines]] = {
    "first half": _first_half,
    "second half": _second_half,
    "shuffled": _shuffled,
    "every third line lost": _thinned,
    "cut in the middle of a line": _cut_in_a_line,
    "rotated, its start gone": _rotated,
    "last 200 lines": _tail,
    "ranks interleaved": _interleaved,
    "every line twice": _doubled,
    "CRLF": _crlf,
    "in another time zone": _other_zone,
}


def spoilers_of_folder(recording: Path) -> Iterator[tuple[str, Spoil]]:
    """What happens to several artifacts at once."""
    hosts = sorted(path for path in (recording / "hosts").glob("*") if path.is_dir())
    if any((host / name).exists() for host in hosts for name in HTTP):
        yield "the server silent over HTTP", partial(_without_names, HTTP)
    if any(len(list((host / "metrics").glob("*.prom"))) > 1 for host in hosts):
        yield "a single scrape of metrics", _single_scrape
    if any((host / "server.log").is_file() for host in hosts):
        yield "nothing but the log", _log_alone
    for host in hosts if len(hosts) > 1 else ():
        yield f"without host {host.name}", partial(remove, host.relative_to(recording))


def remove(inside: Path, copy: Path) -> None:
    path = copy / inside
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def rewrite(inside: Path, change: Callable[[Lines], Lines], copy: Path) -> None:
    """Replaces a file of the copy, whose files are hard links: the original must not be written through them."""
    path = copy / inside
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    path.unlink()
    path.write_text("".join(change(lines)), encoding="utf-8", newline="")


def _without_names(names: tuple[str, ...], copy: Path) -> None:
    for path in [path for name in names for path in copy.glob(f"hosts/*/{name}")]:
        remove(path.relative_to(copy), copy)


def _single_scrape(copy: Path) -> None:
    for scrape in copy.glob("hosts/*/metrics/*.prom"):
        if scrape.stem != "1":
            scrape.unlink()


def _log_alone(copy: Path) -> None:
    for path in [path for path in copy.rglob("*") if path.is_file() and path.name != "server.log"]:
        path.unlink()
