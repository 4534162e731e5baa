"""What a flag is called in another version, and what an abbreviation that became ambiguous was meant to say."""

from dataclasses import replace
from difflib import get_close_matches

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import spans
from ppagent.sglang.launch.command import LaunchCommand, arguments_of
from ppagent.sglang.launch.options import Option
from ppagent.sglang.launch.spelling import canonical_dest

_FAMILIES = (
    ("--max-micro-batch-size", "--pp-max-micro-batch-size"),
    ("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"),
    ("--cuda-graph-bs", "--cuda-graph-bs-decode"),
    ("--disable-cuda-graph", "--disable-decode-cuda-graph"),
    ("--stream-output", "--incremental-streaming-output"),
)
"""Names of one lever, oldest first: changed in 0.5.3.post1 (slot limit), 0.5.14 (graphs), 0.5.10 (streaming)."""
_MEANT = {
    "--pp": "--pp-size",
    "--tp": "--tp-size",
    "--dp": "--dp-size",
    "--ep": "--ep-size",
    "--cuda-graph-max-bs": "--cuda-graph-max-bs-decode",
    "--cuda-graph-bs": "--cuda-graph-bs-decode",
}


def renamed(written: str, catalogue: Catalogue) -> str | None:
    """How this version spells the very flag that another one calls `written`; underscores count as dashes."""
    known = catalogue.by_spelling
    dashed = written.replace("_", "-")
    if dashed in known:
        return dashed
    family = next((names for names in _FAMILIES if dashed in names), ())
    return next((name for name in reversed(family) if name in known and not known[name].deprecated), None)


def other_name(written: str, catalogue: Catalogue) -> str | None:
    """What to write in this version for a flag it does not have; None where nothing is near."""
    same = renamed(written, catalogue)
    if same is not None:
        return same
    known = catalogue.by_spelling
    dashed = written.replace("_", "-")
    replacements = [span.flag.replaced_by for span in reversed(spans(dashed)) if span.flag.replaced_by]
    for replacement in replacements:
        if replacement.split()[0].partition("=")[0] in known:
            return replacement
    return next(iter(get_close_matches(dashed, known, n=1, cutoff=0.8)), None)


def as_meant(command: LaunchCommand, catalogue: Catalogue) -> LaunchCommand:
    """The command with renamed and ambiguous flags taken for what they were meant to say, so that one pass can tell
    what else is wrong with it."""
    options = tuple(_meant(option, catalogue) for option in command.options)
    return replace(command, options=options, args=arguments_of(options))


def _meant(option: Option, catalogue: Catalogue) -> Option:
    if option.known:
        return option
    name = meant_by(option.written, option.candidates) if option.ambiguous else renamed(option.written, catalogue)
    flag = catalogue.by_spelling.get(name or "")
    if flag is None:
        return option
    dest = canonical_dest(flag.dest)
    return replace(option, known=True, flag=flag, spelling=name or "", dest=dest, candidates=())


def earlier_name(flag: str) -> str:
    """What versions before the newest ones call a flag, as a clause for whoever does not tell theirs; empty where the
    name never changed."""
    family = next((names for names in _FAMILIES if flag in names[1:]), ())
    found = spans(flag)
    if not family or not found:
        return ""
    return f"before {found[0].since} it is called {family[family.index(flag) - 1]}"


def later_name(flag: str) -> str:
    """What the versions after the last one with it call a flag, as a clause; empty where the name still stands."""
    family = next((names for names in _FAMILIES if flag in names[:-1]), ())
    if not family:
        return ""
    name = family[family.index(flag) + 1]
    found = spans(name)
    return f"from {found[0].since} on it is called {name}" if found else ""


def versions_with(written: str) -> str:
    """Words on the published versions that have the flag; empty where none does."""
    found = spans(written)
    if not found:
        return ""
    first, last = found[0].since, found[-1].until
    return f"it is in {first} only" if first == last else f"it is in {first} to {last}"


def meant_by(written: str, candidates: tuple[str, ...]) -> str | None:
    """What an ambiguous abbreviation most likely stands for: what it meant before others came to begin like it."""
    meant = _MEANT.get(written)
    return meant if meant in candidates else None
