"""`ppagent explain FLAG`: a launch flag's history over SGLang versions, and what it does and does not do."""

import re
from collections.abc import Iterator
from pathlib import Path

from ppagent.errors import UserError
from ppagent.report.filled import filled
from ppagent.sglang.flags.catalogue import read_catalogue
from ppagent.sglang.flags.chronicle import abbreviation, events
from ppagent.sglang.flags.describe import described
from ppagent.sglang.flags.flag import Catalogue, Flag, Match
from ppagent.sglang.flags.history import catalogue_of, spans, versions_known
from ppagent.sglang.flags.notes import Note, notes_on
from ppagent.sglang.flags.successors import nearest, successor

INDENT = "  "
_MOST_CANDIDATES = 8
_FLAG_LIKE = re.compile(r"--?[a-z0-9][a-z0-9_-]*", re.IGNORECASE)
_FIELD_LIKE = re.compile(r"[a-z0-9]+(?:[_-][a-z0-9]+)+", re.IGNORECASE)


def is_flag(text: str) -> bool:
    """Whether `text` is written as a flag ("--pp-size", "--pp-size=4"), without its dashes ("pp-size", "port"), or as
    the field it sets ("pp_size")."""
    name = text.partition("=")[0]
    return bool(_FLAG_LIKE.fullmatch(name) or _FIELD_LIKE.fullmatch(name) or spans(_spelling(name)))


def nearest_flags(text: str, version: str | None = None) -> str:
    """The flags that look most like `text`, as advice; empty where none does."""
    catalogue = catalogue_of(version or versions_known()[-1])
    return _nearest_in(_spelling(text), catalogue)


def explain_flag(
    text: str, version: str | None = None, tree: Path | None = None, installed: Catalogue | None = None
) -> str:
    """What ppagent knows of a flag: what `version` (or the tree's, or the newest known) makes of it, history, notes.
    `installed` are the flags of an installation, which count before those of a version.

    Lines fit 80 columns where names allow it. Raises UserError, with the nearest names, for text that is no flag of
    any version.
    """
    if version is not None and tree is not None:
        raise UserError("--version and --tree name the version twice.", "Give one of them.")
    written = _spelling(text)
    catalogue = installed or (
        read_catalogue(tree) if tree is not None else catalogue_of(version or versions_known()[-1])
    )
    match = catalogue.match(written)
    subject = _subject(written, match)
    if subject is None:
        raise _unknown(written, catalogue)
    flag = match.flag or (spans(subject)[-1].flag if spans(subject) else None)
    chosen = catalogue.version if installed is not None or version is not None or tree is not None else ""
    parts = [
        [subject, *_facts(flag)],
        [f"In SGLang {catalogue.version or 'of this tree'}", *_here(written, match, catalogue)],
        _abbreviation(written),
        _history(subject),
        *(_note(note) for note in notes_on(flag.spellings if flag else (subject,), chosen)),
        [line for sentence in catalogue.unread for line in filled(f"Note: {sentence}", "")],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _spelling(text: str) -> str:
    name = text.partition("=")[0]
    return name if name.startswith("-") else "--" + name.replace("_", "-").lower()


def _subject(written: str, match: Match) -> str | None:
    """The spelling to tell the history of: as written where any version has it, else what it is short for."""
    if spans(written):
        return written
    if match.spelling is not None:
        return match.spelling
    return written if match.ambiguous or abbreviation(written) else None


def _unknown(written: str, catalogue: Catalogue) -> UserError:
    advice = _nearest_in(written, catalogue) or "`ppagent flags --version X` lists them."
    return UserError(f"No SGLang version known here has a flag {written}.", advice)


def _nearest_in(written: str, catalogue: Catalogue) -> str:
    close = nearest(written, catalogue)
    return f"Nearest in {catalogue.version or 'this tree'}: {', '.join(close)}." if close else ""


def _facts(flag: Flag | None) -> list[str]:
    if flag is None:
        return []
    texts = [f"field {flag.dest}; {described(flag)}"]
    if flag.aliases:
        texts.append(f"spelled {', '.join(flag.spellings)}")
    return _indented([*texts, *([flag.help] if flag.help else [])])


def _here(written: str, match: Match, catalogue: Catalogue) -> list[str]:
    """What the version's own parser makes of the spelling, and what to write."""
    said: list[str] = []
    if match.ambiguous:
        said.append(
            "Not a flag of its own. As an abbreviation it is ambiguous and stops the launch: it could be "
            f"{_or(match.candidates)}."
        )
    elif match.flag is None:
        said.append("Not there: the launch stops with `unrecognized arguments`.")
    else:
        said += _present(written, match, match.flag)
    if match.flag is None or match.flag.deprecated:
        said += _instead(written, match, catalogue)
    return _indented(said)


def _instead(written: str, match: Match, catalogue: Catalogue) -> Iterator[str]:
    found = successor(written, catalogue)
    if found is not None:
        yield f"Write {found}."
    elif match.ambiguous:
        yield "Write the one you mean in full."


def _present(written: str, match: Match, flag: Flag) -> Iterator[str]:
    if match.spelling != written:
        yield (
            f"{written} is accepted as an abbreviation of {match.spelling}. Write that in full: an abbreviation "
            "breaks as soon as a version adds a flag that begins alike."
        )
    if flag.stops_with:
        yield f"Using it stops the launch: {flag.stops_with}"
    elif flag.action == "deprecated":
        yield "Accepted with a warning, and without effect."
    elif flag.deprecated:
        yield "Accepted with a warning: deprecated."
    else:
        yield f"There: {described(flag)}."
    if flag.choices:
        yield f"One of {', '.join(str(choice) for choice in flag.choices)}."


def _or(names: tuple[str, ...]) -> str:
    if len(names) > _MOST_CANDIDATES:
        return f"{', '.join(names[:_MOST_CANDIDATES])} or {len(names) - _MOST_CANDIDATES} more"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _abbreviation(written: str) -> list[str]:
    runs = abbreviation(written)
    if not runs:
        return []
    return [f"{written} as an abbreviation", *_indented([f"{since} to {until}: {what}" for since, until, what in runs])]


def _history(subject: str) -> list[str]:
    found = events(subject)
    return ["History", *(line for version, text in found for line in _event(version, text))] if found else []


def _event(version: str, text: str) -> list[str]:
    lines = filled(text, " " * 15)
    return [f"{INDENT}{version:<13}{lines[0].strip()}", *lines[1:]]


def _note(note: Note) -> list[str]:
    match (note.since, note.until):
        case ("", ""):
            held = "every version"
        case (since, ""):
            held = f"{since} and later"
        case ("", until):
            held = f"up to {until}"
        case (since, until):
            held = f"{since} to {until}"
    return [f"Note ({held})", *_indented([note.text, f"Source: {note.source}."])]


def _indented(texts: list[str]) -> list[str]:
    return [line for text in texts for line in filled(text, INDENT)]
