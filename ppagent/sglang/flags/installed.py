"""The launch flags that one installation takes: read in its own source where that is there, else those of its version.

Nothing of the source is imported or run. A source that cannot be read gives way to the table of published versions, and
what it leaves open is filled from there; both are said.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from packaging.version import Version

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.sglang.flags.differences import Differences, departures, differences
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import between, catalogue_of, release_below, versions_known
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SERVER_ARGS, InOneGo, PackageFiles, SourceTree, read_version
from ppagent.sglang.versions import parse_version

ORIGIN = "the installed source"
PARSER_NAMES = "sglang/srt/function_call/parser_names.py"
_READ_FIRST = (
    "sglang/version.py",
    "sglang/_version.py",
    "sglang/srt/server_args",
    "sglang/srt/arg_groups/",
    "sglang/srt/environ.py",
    "sglang/srt/parser/reasoning_parser",
    "sglang/srt/reasoning_parser.py",
    "sglang/srt/utils.py",
    "sglang/srt/utils/__init__.py",
    "sglang/srt/utils/common.py",
    "sglang/srt/model_executor/cuda_graph_config.py",
    "sglang/jit_kernel/kv_canary/consts.py",
    "sglang/kernels/ops/kv_canary/consts.py",
)
"""Where 0.4.7 to 0.5.23 declare flags, their defaults and choices. Whatever else a tree needs is read as it is met."""
_SPELLING = re.compile(r"--?[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")
_NO_VERSION = "does not say which version"


@dataclass(frozen=True)
class InstalledFlags:
    """The flags, where they were read, and how they differ from the published version nearest to them."""

    catalogue: Catalogue
    differences: Differences
    from_source: bool
    says: tuple[str, ...] = ()
    """What stands in doubt: the table was used in the source's place, or source and version disagree."""

    @property
    def version(self) -> str:
        return self.catalogue.version

    @property
    def remarks(self) -> tuple[str, ...]:
        """All there is to know of them: doubts, where the version stands, what could not be read."""
        place = between(self.version) if self.from_source else ""
        placed = (f"SGLang {self.version} is {place}.",) if place else ()
        return (*self.says, *placed, *self.catalogue.unread)

    def differs(self, spellings: Iterable[str]) -> str:
        """How this installation departs from the release in any of these flags, as a clause; empty where it does
        not."""
        found = [said for spelling in dict.fromkeys(spellings) if (said := self.differences.about(spelling))]
        release = self.differences.release
        return f"this installation's launch flags differ from {release}'s: {', '.join(found)}" if found else ""


def installed_flags(source: Callable[[], PackageFiles], version: str = "") -> InstalledFlags:
    """The launch flags of a host's installation. `source` opens its package, `version` is what the host says it runs.

    Raises UserError where neither its source nor its version tells.
    """
    try:
        files = source()
        declared = f"sglang/{SERVER_ARGS}" in files.files()
    except NotRecorded:
        return flags_of_version(version)
    except ToolError as error:
        return flags_of_version(version, f"The installed source cannot be read ({error}).")
    return flags_of_package(files, version) if declared else flags_of_version(version)


def flags_of_version(version: str, why: str = "") -> InstalledFlags:
    """The flags by the table of published versions. Raises UserError for what is no version of it."""
    catalogue = catalogue_of(version)
    unread = f"{why} These are the flags of the published {catalogue.version}." if why else ""
    says = tuple(filter(None, (unread, *catalogue.unread)))
    return InstalledFlags(replace(catalogue, unread=()), Differences(catalogue.version), False, says)


def flags_of_package(files: PackageFiles, version: str = "") -> InstalledFlags:
    """The flags as the package declares them; by its version where they cannot be read. Raises UserError where its
    version is not known then."""
    _fetch(files)
    return flags_of_tree(SourceTree.over(files), version)


def flags_of_tree(tree: SourceTree, version: str = "") -> InstalledFlags:
    """The same of a package that is at hand."""
    try:
        read = read_tree(tree)
    except UserError as error:
        known = version or read_version(tree)
        if not known:
            raise
        return flags_of_version(known, f"The installed flags cannot be read: {error.wrong}")
    own = read.version if parse_version(read.version) is not None else ""
    named = replace(read, version=own or version, origin=ORIGIN)
    release = _release(named.version)
    filled = _filled(named, release)
    heard = tuple(said for said in filled.unread if not (version and _NO_VERSION in said))
    catalogue = replace(filled, unread=(*heard, *departures(filled)))
    return InstalledFlags(catalogue, differences(catalogue, release), True, _contradiction(own, version))


def _fetch(files: PackageFiles) -> None:
    """Asks a package elsewhere for what is most likely needed, in one go."""
    if not isinstance(files, InOneGo):
        return
    held = files.files()
    first = (*_READ_FIRST, PARSER_NAMES if PARSER_NAMES in held else "sglang/srt/function_call/")
    try:
        files.fetch([path for path in held if path.startswith(first) and path.endswith(".py")])
    except ToolError:  # then they are read one by one
        return


def _release(version: str) -> str:
    """The published version to compare with: the nearest not newer, the newest known where there is none."""
    parsed = parse_version(version)
    return (release_below(parsed) if parsed is not None else None) or versions_known()[-1]


def _filled(read: Catalogue, release: str) -> Catalogue:
    """What could not be read of a flag, and flags that may not have been read, as the release has them."""
    known = {flag.name: flag for flag in catalogue_of(release)}
    flags = [known.get(flag.name, flag) if flag.name in read.unsure else flag for flag in read if _is_plain(flag)]
    seen = {spelling for flag in flags for spelling in flag.spellings}
    lacking = [flag for flag in known.values() if flag.name not in seen] if read.partial else []
    odd = len(read.flags) - len(flags)
    said = (f"{odd} flags with odd names are left out.",) if odd else ()
    return replace(read, flags=(*flags, *lacking), unread=(*read.unread, *said))


def _is_plain(flag: Flag) -> bool:
    return all(_SPELLING.fullmatch(spelling) for spelling in flag.spellings)


def _contradiction(own: str, told: str) -> tuple[str, ...]:
    one, other = parse_version(own), parse_version(told)
    if one is None or other is None or Version(one.public) == Version(other.public):
        return ()
    return (f"The installed source says it is SGLang {one}, the host says {other}. The flags are the source's.",)
