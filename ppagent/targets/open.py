"""Opens what a user named: a recording's folder or archive, a log file, pasted text, or live hosts."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from urllib.parse import urlsplit

from ppagent.errors import ToolError, UserError
from ppagent.targets.files import all_nul, lines, pieces
from ppagent.targets.other_engines import other_engine
from ppagent.targets.packed import Packed, is_archive
from ppagent.targets.pasted import Pasted, read_pasted
from ppagent.targets.recording import LogFile, Recording, holds_artifacts
from ppagent.targets.target import Shared, Target
from ppagent.targets.triage_bundle import TriageBundle, is_triage_bundle

if TYPE_CHECKING:
    from ppagent.targets.live_host import Windows

_SGLANG_LINE = re.compile(rb"(?i)sglang|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|(?:Decode|Prefill) batch|server_args=")
_LOG_LINE = re.compile(rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]\n]*\] |(?:Decode|Prefill) batch")
_LARGEST_PASTE_MIB = 4
_MOST_PIPED_MIB = 32
_TELLING = 4096
_ADVICE = "Give a recording's folder, a log file, - for pasted text, local, or an ssh://[user@]host[:port] address."


def open_target(
    text: str,
    stdin: TextIO | None = None,
    *,
    port: int | None = None,
    windows: "Windows | None" = None,
    look: bool = False,
) -> Target:
    """The target that `text` names. `port` is the HTTP port of a live server, where it cannot be found or several run;
    `windows` says for how long what changes is watched, where not as usual. With `look` the reading of live hosts
    begins at once: whoever opens them so may read on them.

    Raises UserError where it names none, in one sentence and what to do about it.
    """
    if text == "-":
        return _open_pasted(stdin)
    if not text:
        raise UserError("The target is empty.", _ADVICE)
    path = named_path(text)
    try:
        if path.is_dir():
            return _open_folder(path, text)
        if path.is_file():
            return _open_file(path, text)
    except OSError as error:
        raise UserError(f"{text} cannot be read: {error.strerror or error}.", _ADVICE) from error
    from ppagent.targets.open_live import is_live, not_all_hosts, open_live

    if is_live(text):
        given = {} if windows is None else {"windows": windows}
        target = open_live(text, port=port, ahead=True, **given)
        if look:
            target.look()
        return target
    if text.startswith(("http://", "https://")):
        raise UserError(f"{text} is a server's address, and its host is what is looked at.", _by_its_host(text))
    raise not_all_hosts(text) or UserError(f"There is no file or folder {text}.", _ADVICE)


def _by_its_host(address: str) -> str:
    """How to name the host of a server's address."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return _ADVICE
    here = host in ("localhost", "::1", "") or host.startswith(("127.", "0."))
    given = "local" if here else f"ssh://{host}"
    return f"Give {given}{f' --port {port}' if port else ''} instead; bench and try take an address."


def _open_pasted(stdin: TextIO | None) -> Target:
    if stdin is None:
        raise UserError("There is no pasted text to read.", "Pipe it in: ppagent diagnose - < text.")
    text = _read_piped(stdin)
    if not text.strip():
        raise UserError("The pasted text is empty.", "Paste log lines, the launch command and what you wonder about.")
    if _is_binary(text):
        raise UserError("What came through the pipe is no text.", "Paste log lines, the launch command and a question.")
    pasted = read_pasted(text)
    if pasted.empty and other_engine(text.encode(errors="replace").splitlines()):
        wrong = _none_of_sglang("in the pasted text", text.encode(errors="replace").splitlines())
        raise UserError(wrong, "Paste what an SGLang server printed, its launch command and your question.")
    if pasted.empty and not re.search(r"[^\W_]{2}", pasted.words):
        raise UserError("The pasted text holds no words.", "Paste log lines, the launch command and your question.")
    return pasted


def named_path(text: str) -> Path:
    """The path that a person wrote; `~name` of nobody stays as it is."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _read_piped(stdin: TextIO) -> str:
    """All that comes in, as long as it can be held at once."""
    raw, most = getattr(stdin, "buffer", None), _MOST_PIPED_MIB << 20
    text = stdin.read(most + 1) if raw is None else raw.read(most + 1).decode("utf-8", errors="replace")
    if len(text) > most:
        advice = "Save it and give the file: a log file is read line by line, however long it is."
        raise UserError(f"More than {_MOST_PIPED_MIB} MiB came through the pipe.", advice)
    return text


def _is_binary(text: str) -> bool:
    """Whether bytes that are no characters make up more of the beginning than a broken line would."""
    begin = text[:_TELLING]
    odd = sum(c in "\x00\ufffd" for c in begin)
    return odd > max(8, len(begin) // 10)


def _open_folder(path: Path, text: str) -> Target:
    if is_triage_bundle(path):
        return TriageBundle(path)
    recording = Recording(path)
    if recording.hosts or any((path / artifact.value).is_file() for artifact in Shared):
        return recording
    entries = sorted(path.iterdir())
    if not entries:
        raise UserError(f"The folder {text} is empty.", _ADVICE)
    inner = [entry.name for entry in entries if entry.is_dir() and _is_recording(entry)]
    logs = [entry.name for entry in entries if entry.is_file() and entry.suffix == ".log"]
    advice = "A recording has incident.yaml and hosts/<name>/ with server.log, launch.txt and the like."
    if inner or logs:
        advice = f"Name one of what it holds: {', '.join((inner or logs)[:5])}."
    raise UserError(f"The folder {text} holds nothing that ppagent knows.", advice)


def _is_recording(folder: Path) -> bool:
    return (folder / Shared.INCIDENT.value).is_file() or (folder / "hosts").is_dir() or holds_artifacts(folder)


def _open_file(path: Path, text: str) -> Target:
    if path.stat().st_size == 0:
        raise UserError(f"The file {text} is empty.", _ADVICE)
    if is_archive(path):
        return Packed(path)
    kind = _kind_of(path)
    if kind != "log" and path.stat().st_size <= _LARGEST_PASTE_MIB << 20:
        pasted = _other_parts(path)
        if pasted is not None:
            return pasted
    if kind in ("log", "sglang"):
        return LogFile(path)
    if kind == "binary":
        raise UserError(f"{text} is a binary file, not a log.", "Give the server's log as text, gzipped or not.")
    raise UserError(
        _none_of_sglang(f"in {text}", lines(path)),
        "Give the server's own log, or pipe what you have into ppagent diagnose -.",
    )


def _none_of_sglang(where: str, found: Iterable[bytes]) -> str:
    engine = other_engine(found)
    return f"There is no line of an SGLang server {where}" + (f": it is a log of {engine}." if engine else ".")


def _kind_of(path: Path) -> str:
    """log, sglang (it speaks of SGLang, though no line is a log's), binary or text: by the first line that tells."""
    kind = "text"
    try:
        for piece in pieces(lines(path)):
            if all_nul(piece):
                kind = "binary" if kind == "text" and piece else kind
            elif _LOG_LINE.search(piece):
                return "log"
            elif kind != "sglang" and _SGLANG_LINE.search(piece):
                kind = "sglang"
            elif kind == "text" and b"\x00" in piece:
                kind = "binary"
    except ToolError as error:
        raise UserError(f"{error}.".replace("..", "."), _ADVICE) from error
    return kind


def _other_parts(path: Path) -> Pasted | None:
    """A small file that is no log may hold a launch command, a table or results, as pasted text does."""
    pasted = read_pasted(b"".join(lines(path)).decode("utf-8", errors="replace"))
    return None if pasted.empty else pasted
