"""The flags of an installation: its own source first, the table where that does not tell, and which of them it was."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_samples import package, server_args

from ppagent.errors import NotRecorded, ToolError, UserError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.ledger import Ledger
from ppagent.sglang.flags.differences import differences
from ppagent.sglang.flags.flag import Flag
from ppagent.sglang.flags.history import alike, catalogue_of, versions_known
from ppagent.sglang.flags.installed import InstalledFlags, flags_of_package, flags_of_version, installed_flags
from ppagent.sglang.flags.source import LARGEST_FILE
from ppagent.sglang.flags.told import as_fact, from_fact

SERVER_ARGS = "sglang/srt/server_args.py"


class Files:
    """A package in memory, which counts what it is asked."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.asked: list[str] = []

    def files(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def read(self, path: str) -> str:
        self.asked.append(path)
        if path not in self.texts:
            raise NotRecorded(path)
        return self.texts[path]


class FarFiles(Files):
    """One elsewhere: whatever was not fetched before is a round trip."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(texts)
        self.fetched: list[set[str]] = []

    def fetch(self, paths: Iterable[str]) -> None:
        self.fetched.append(set(paths))


def installed(version: str = "0.5.10", told: str = "", **patches: object) -> InstalledFlags:
    return flags_of_package(Files(package(version, **patches)), told or version)


@pytest.mark.parametrize("version", ["0.4.10", "0.5.3", "0.5.10", "0.5.23"])
def test_a_source_as_published_declares_the_published_flags(version: str) -> None:
    found = installed(version)
    assert found.from_source and found.version == version and found.says == ()
    assert {flag.name for flag in found.catalogue} == {flag.name for flag in catalogue_of(version)}
    assert not found.differences.added and not found.differences.removed


def test_what_a_patched_source_adds_lacks_and_sets_differently_is_said_flag_by_flag() -> None:
    found = installed(
        without=["--pp-max-micro-batch-size"],
        defaults={"--chunked-prefill-size": 512},
        more='parser.add_argument("--pp-refill-stride", type=int, default=4)',
    )
    assert found.differs(["--pp-max-micro-batch-size", "--tp-size"]) == (
        "this installation's launch flags differ from 0.5.10's: --pp-max-micro-batch-size is not there"
    )
    assert "--chunked-prefill-size: default null -> 512" in found.differs(["--chunked-prefill-size"])
    assert found.differs(["--pp-refill-stride"]).endswith("--pp-refill-stride is new")
    assert found.differs(["--tp-size", "--no-flag-at-all"]) == ""
    assert found.catalogue.by_spelling["--pp-refill-stride"].default == 4
    assert "is not the published 0.5.10: it adds --pp-refill-stride, lacks --pp-max-micro" in found.catalogue.unread[0]


@pytest.mark.parametrize(
    "text", ["class ServerArgs:\n  def (", "x = 1\n", "\x00", "class ServerArgs: pass\n", "(" * 5000]
)
def test_a_source_that_cannot_be_read_gives_way_to_the_table_and_that_is_said(text: str) -> None:
    found = flags_of_package(Files({SERVER_ARGS: text}), "0.5.10")
    assert not found.from_source and found.version == "0.5.10"
    assert len(found.catalogue.flags) == len(catalogue_of("0.5.10").flags)
    (said,) = found.says
    assert said.startswith("The installed flags cannot be read: ")
    assert said.endswith("These are the flags of the published 0.5.10.")


def test_the_version_beside_flags_that_cannot_be_read_still_names_the_table() -> None:
    found = flags_of_package(Files({"sglang/version.py": '__version__ = "0.5.10"\n', SERVER_ARGS: "class ("}))
    assert not found.from_source and found.version == "0.5.10"
    with pytest.raises(UserError):
        flags_of_package(Files({SERVER_ARGS: "class ("}))


def test_a_file_that_is_too_large_to_be_source_is_not_parsed() -> None:
    huge = server_args("0.5.10") + "#" * LARGEST_FILE
    assert not flags_of_package(Files({SERVER_ARGS: huge}), "0.5.10").from_source


def test_a_source_that_cannot_be_reached_gives_way_too_and_one_that_was_not_recorded_says_nothing() -> None:
    def broken() -> Files:
        raise ToolError("the connection is lost")

    def missing() -> Files:
        raise NotRecorded("no source")

    assert "the connection is lost" in installed_flags(broken, "0.5.10").says[0]
    assert installed_flags(missing, "0.5.10") == flags_of_version("0.5.10")
    assert installed_flags(missing, "0.5.10").says == ()
    with pytest.raises(UserError):
        installed_flags(missing, "")


def test_a_package_without_the_flags_file_is_answered_by_its_version() -> None:
    found = installed_flags(lambda: Files({"sglang/srt/managers/scheduler.py": "x = 1\n"}), "0.5.10")
    assert not found.from_source and found.says == ()


def test_what_a_missing_file_holds_is_taken_from_the_published_version() -> None:
    more = 'parser.add_argument("--mine", type=int, default=gone())'
    text = "from sglang.srt.names import BACKENDS, gone\n" + server_args("0.5.10", without=["--load-format"], more=more)
    text += '        parser.add_argument("--load-format", type=str, choices=BACKENDS, default="auto")\n'
    found = flags_of_package(Files({SERVER_ARGS: text}), "0.5.10")
    assert found.from_source
    assert (
        found.catalogue.by_spelling["--load-format"].choices
        == catalogue_of("0.5.10").by_spelling["--load-format"].choices
    )
    assert found.differs(["--load-format"]) == ""
    assert any("--load-format cannot be told" in said for said in found.catalogue.unread)


def test_flags_that_may_be_registered_in_a_way_not_understood_are_not_called_missing() -> None:
    more = "for name in names():\n            parser.add_argument(name, type=int)"
    found = installed(without=["--pp-max-micro-batch-size"], more=more)
    assert found.from_source and found.catalogue.partial
    assert "--pp-max-micro-batch-size" in found.catalogue.by_spelling
    assert found.differences.removed == ()


def test_a_version_file_that_contradicts_the_source_is_said_and_the_source_counts() -> None:
    found = installed("0.5.12", "0.5.10")
    assert found.version == "0.5.12"
    assert found.says == (
        "The installed source says it is SGLang 0.5.12, the host says 0.5.10. The flags are the source's.",
    )
    assert "--pp-max-micro-batch-size" in found.catalogue.by_spelling
    assert installed("0.5.10+cu128", "0.5.10").says == ()


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.5.11.dev0+g1a2b3c4", "0.5.10.post1"),
        ("0.5.10.post1.dev7+g1a2b3c4.d20260101", "0.5.10"),
        ("0.5.11rc2", "0.5.10.post1"),
        ("0.5.24.dev3+gabc", "0.5.23"),
    ],
)
def test_a_build_between_releases_names_the_nearest_earlier_one(version: str, release: str) -> None:
    own = {"sglang/version.py": f'__version__ = "{version}"\n', SERVER_ARGS: server_args(release)}
    found = flags_of_package(Files(own), version)
    assert (found.version, found.differences.release) == (version, release)
    assert found.says == ()
    kind = "a candidate" if "rc" in version else "built from source"
    assert found.remarks[0] == f"SGLang {version} is {kind}; the nearest earlier release known is {release}."
    by_table = flags_of_version(version)
    assert by_table.version == release and len(by_table.says) == 1 and release in by_table.says[0]


@pytest.mark.parametrize("version", ["0.5.10+cu128", "0.5.10.post1+cu130"])
def test_a_local_build_of_a_release_is_that_release(version: str) -> None:
    assert flags_of_version(version).says == ()
    assert flags_of_version(version).version == version.partition("+")[0]


def test_a_source_without_a_version_has_the_one_that_its_host_says() -> None:
    found = flags_of_package(Files({SERVER_ARGS: server_args("0.5.10")}), "0.5.10")
    assert found.from_source and found.version == "0.5.10" and found.catalogue.unread == ()


@pytest.mark.parametrize("own", ["0.0.0.dev0", "0.0.0.dev1+g1a2b3c4", "main", ""])
def test_a_build_without_tags_has_no_version_of_its_own(own: str) -> None:
    texts = {"sglang/_version.py": f'__version__ = "{own}"\n', SERVER_ARGS: server_args("0.5.10")}
    found = flags_of_package(Files(texts), "0.5.10")
    assert (found.version, found.differences.release, found.says) == ("0.5.10", "0.5.10", ())
    alone = flags_of_package(Files(texts))
    assert alone.from_source and alone.version == "" and alone.differences.release == versions_known()[-1]
    assert any("does not say which version" in said for said in alone.remarks)


def test_of_a_package_elsewhere_all_that_is_needed_comes_in_one_go() -> None:
    texts = package("0.5.10") | {
        "sglang/srt/arg_groups/choices.py": "X = 1\n",
        "sglang/srt/managers/scheduler.py": "x = 1\n",
        "sglang/srt/function_call/a_detector.py": "x = 1\n",
    }
    far = FarFiles(texts)
    assert flags_of_package(far, "0.5.10").from_source
    (fetched,) = far.fetched
    assert set(far.asked) <= fetched
    assert "sglang/srt/managers/scheduler.py" not in fetched
    assert "sglang/srt/function_call/a_detector.py" in fetched
    newer = FarFiles(texts | {"sglang/srt/function_call/parser_names.py": "x = 1\n"})
    flags_of_package(newer, "0.5.10")
    assert "sglang/srt/function_call/a_detector.py" not in newer.fetched[0]


def test_nothing_of_the_source_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    text = f"open({str(mark)!r}, 'w').close()\n" + server_args("0.5.10")
    assert flags_of_package(Files({SERVER_ARGS: text}), "0.5.10").from_source
    assert not mark.exists()


def test_a_flag_with_a_name_that_no_flag_has_is_left_out() -> None:
    found = installed(more='parser.add_argument("--a b; rm", type=int)')
    assert all(" " not in name for name in found.catalogue.by_spelling)
    assert "1 flags with odd names are left out." in found.catalogue.unread


def kept(found: InstalledFlags) -> FactValue:
    """The fact as the ledger keeps it and a session file gives it back."""
    return json.loads(
        json.dumps(Ledger().add("t", Finding("x", {"source.flags": as_fact(found)})).facts["source.flags"])
    )


VERSIONS = [version for version in versions_known() if version.startswith("0.5.")][6:]


@settings(max_examples=25)
@given(st.sampled_from(VERSIONS), st.integers(1, 6), st.data())
def test_the_fact_tells_of_every_flag_what_the_source_did(version: str, back: int, data: st.DataObject) -> None:
    now, release = catalogue_of(version), versions_known()[versions_known().index(version) - back]
    gone = data.draw(st.sets(st.sampled_from([flag.name for flag in now]), max_size=5))
    own = Flag("--api-token", "api_token", ("--secret-key", "--other"), type="int", default=7)
    patched = replace(now, version="0.5.99.dev1", flags=(*(flag for flag in now if flag.name not in gone), own))
    found = InstalledFlags(patched, differences(patched, release), True, ("said",))

    again = from_fact(kept(found))

    assert again is not None and again.from_source and again.version == "0.5.99.dev1" and again.says == ("said",)
    before, after = {f.name: f for f in patched}, {f.name: f for f in again.catalogue}
    assert before.keys() == after.keys()
    assert all(alike(before[name], after[name]) for name in before if name != own.name)
    assert after[own.name].default == 7


@pytest.mark.parametrize(
    "value",
    [
        None, "text", 7, [], {}, {"release": "9.9.9", "version": "1"}, {"release": "0.5.10"},
        {"release": ["0.5.10"], "version": "1"},
    ],
)  # fmt: skip
def test_what_is_no_such_fact_tells_nothing(value: FactValue) -> None:
    assert from_fact(value) is None


@pytest.mark.parametrize(
    "row",
    [
        {}, {"name": "--x"}, {"name": "-x y", "dest": "x"}, {"name": 7, "dest": "x"}, {"name": "--x", "dest": ["x"]},
        {"name": "--x", "dest": "x", "odd": 1}, {"name": "--x", "dest": "x", "action": "eval"}, "--x", None,
        {"name": "--x", "dest": "x", "aliases": "--y"}, {"name": "--x\n", "dest": "x"},
    ],
)  # fmt: skip
def test_an_odd_row_adds_nothing(row: FactValue) -> None:
    found = from_fact({"release": "0.5.10", "version": "0.5.10", "from": "source", "added": [row], "changed": [row]})
    assert found is not None
    assert len(found.catalogue.flags) == len(catalogue_of("0.5.10").flags)
