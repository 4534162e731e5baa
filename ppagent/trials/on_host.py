"""Runs on the server's own host, sent there as text: keeps a server's launch, stops it, starts it again, looks at it.

Standard library only, for any Python that SGLang runs on (3.9 and later). The environment of a server holds keys, so it
never leaves the host: it lies in a file that only the account which runs the server can read. One JSON object in, one
out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Asked = dict[str, Any]

LARGEST_LOOK = 1 << 18


def save(asked: Asked) -> Asked:
    """Keeps how process `pid` was started, under `folder`."""
    pid = asked["pid"]
    place = Path(f"/proc/{pid}")
    folder = _home() / "ppagent" / "relaunch" / asked["id"]
    argv = _words(place / "cmdline")
    environ = dict(word.partition("=")[::2] for word in _words(place / "environ"))
    log, cwd = _log_of(place) or str(folder / "server.log"), os.readlink(place / "cwd")  # noqa: PTH115
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(folder / "old.json", {"argv": argv, "environ": environ, "cwd": cwd, "log": log})
    return {"folder": str(folder), "argv": argv, "cwd": cwd, "log": log, "parent": _parent_title(pid)}


def prepare(asked: Asked) -> Asked:
    """Writes the new launch beside the old one: other words, a few other variables, all else the same."""
    folder = Path(asked["folder"])
    launch = _read(folder / "old.json")
    launch["argv"] = asked["argv"]
    launch["environ"].update(asked["env"])
    _write(folder / "new.json", launch)
    return {}


def stop(asked: Asked) -> Asked:
    """Ends a server: asked first, made to after `patience_s`. Says how long it took, and whether it had to be made."""
    begin, pid = time.time(), asked["pid"]
    family = _family(pid)
    _signal([pid], signal.SIGTERM)
    killed = 0
    while any(_alive(each) for each in family):
        family |= {each for known in list(family) for each in _family(known)}
        spent = time.time() - begin
        if spent > asked["patience_s"]:
            left = [each for each in family if _alive(each)]
            killed = max(killed, len(left))
            _signal(left, signal.SIGKILL if spent > asked["patience_s"] + 5 else signal.SIGTERM)
        if spent > asked["patience_s"] + 25:
            return {"stopped": False, "killed": killed, "seconds": spent}
        time.sleep(0.2)
    return {"stopped": True, "killed": killed, "seconds": time.time() - begin}


def start(asked: Asked) -> Asked:
    """Starts the `old` or the `new` launch in a session of its own; where its log begins is told."""
    launch = _read(Path(asked["folder"]) / (asked["which"] + ".json"))
    out = os.open(launch["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    offset = os.fstat(out).st_size
    process = subprocess.Popen(
        launch["argv"],
        cwd=launch["cwd"],
        env=launch["environ"],
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=out,
        start_new_session=True,
    )
    return {"pid": process.pid, "log": launch["log"], "offset": offset}


def look(asked: Asked) -> Asked:
    """Whether a process is there, and what its log says from `offset` on."""
    with Path(asked["log"]).open("rb") as file:
        file.seek(asked["offset"])
        text = file.read(LARGEST_LOOK)
    whole = text[: text.rfind(b"\n") + 1] or text
    return {
        "alive": _alive(asked["pid"]),
        "offset": asked["offset"] + len(whole),
        "text": whole.decode("utf-8", "replace"),
    }


def _home() -> Path:
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    return base if base.is_absolute() else Path.home() / ".local" / "share"


def _words(path: Path) -> list[str]:
    return [os.fsdecode(word) for word in path.read_bytes().split(b"\0")[:-1]]


def _log_of(place: Path) -> str:
    """The file that the output goes to; empty where it is none that can be written on."""
    for number in (1, 2):
        to = Path(os.readlink(place / "fd" / str(number)))  # noqa: PTH115
        if to.is_absolute() and to.is_file():
            return str(to)
    return ""


def _parent_title(pid: int) -> str:
    parent = _stat(pid)[1]
    words = _words(Path(f"/proc/{parent}/cmdline")) if parent > 1 else []
    return " ".join(words)[:200]


def _stat(pid: int) -> tuple[str, int]:
    """(state, parent) of a process; ("", 0) where it is gone."""
    try:
        cells = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", 0
    return cells[0], int(cells[1])


def _alive(pid: int) -> bool:
    return _stat(pid)[0] not in ("", "Z", "X")


def _family(pid: int) -> set[int]:
    """A process and everything that it started."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    parents = {each: _stat(each)[1] for each in pids}
    family, added = {pid}, True
    while added:
        more = {child for child, parent in parents.items() if parent in family} - family
        family, added = family | more, bool(more)
    return family


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _write(path: Path, launch: Asked) -> None:
    waiting = path.with_suffix(".tmp")
    handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump(launch, file)
        file.flush()
        os.fsync(file.fileno())
    waiting.replace(path)


def _read(path: Path) -> Asked:
    launch: Asked = json.loads(path.read_text())
    return launch


if __name__ == "__main__":
    question = json.loads(sys.argv[1])
    deeds = {"save": save, "prepare": prepare, "stop": stop, "start": start, "look": look}
    try:
        answer = deeds[question["deed"]](question)
    except (OSError, KeyError, ValueError) as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(question["mark"] + json.dumps(answer))
