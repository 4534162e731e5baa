from collections.abc import Mapping

import pytest
from tool_fakes import FakeSource, FakeTarget, check, facts_of, run

from ppagent.errors import NotRecorded
from ppagent.plugins import NoArguments, ToolContext
from ppagent.targets.target import Artifact
from ppagent_tools.server import Launch
from ppagent_tools.source_flags import SourceFlags, flags_of
from tests.sglang.source_samples import package

SERVER = "python -m sglang.launch_server --model-path m --pp-size 2"


def box(source: Mapping[str, str] | None = None, version: str = "0.5.10", command: str = SERVER) -> FakeTarget:
    texts = {Artifact.LAUNCH: command} | ({Artifact.VERSION: version} if version else {})
    return FakeTarget({"box": texts}, source=source)


def told(target: FakeTarget) -> dict[str, object]:
    (finding,) = run(SourceFlags(), target)
    value = finding.facts["source.flags"]
    assert isinstance(value, dict)
    return dict(value)


def test_where_the_version_number_tells_all_nothing_is_added() -> None:
    assert run(SourceFlags(), box()) == ()
    assert run(SourceFlags(), box(version="0.5.10+cu128")) == ()


def test_a_patched_source_is_told_as_its_differences() -> None:
    more = 'parser.add_argument("--pp-refill-stride", type=int, default=4)'
    target = box(package("0.5.10", without=["--pp-async-batch-depth"], more=more))
    (finding,) = run(SourceFlags(), target)
    fact = told(target)
    assert (fact["from"], fact["release"], fact["removed"]) == (
        "source",
        "0.5.10",
        [{"name": "--pp-async-batch-depth"}],
    )
    assert [row["name"] for row in fact["added"]] == ["--pp-refill-stride"]  # type: ignore[index, union-attr, attr-defined]
    assert finding.artifact == "source/sglang/srt/server_args.py"


def test_a_build_between_releases_says_which_release_it_is_taken_for() -> None:
    target = box(version="0.5.11.dev3+g1a2b3c4")
    (finding,) = run(SourceFlags(), target)
    fact = told(target)
    assert (fact["from"], fact["release"]) == ("table", "0.5.10.post1")
    assert finding.excerpt == "0.5.11.dev3+g1a2b3c4"


def test_a_source_that_cannot_be_parsed_is_told_with_the_table_in_its_place() -> None:
    fact = told(box({"sglang/srt/server_args.py": "class ("}))
    assert fact["from"] == "table"
    assert "cannot be read" in str(fact["says"])


def test_without_source_and_version_nothing_is_claimed() -> None:
    with pytest.raises(NotRecorded):
        run(SourceFlags(), box(version=""))


def test_the_launch_is_read_with_the_flags_of_the_source() -> None:
    command = f"{SERVER} --pp-refill-stride 3"
    more = 'parser.add_argument("--pp-refill-stride", type=int, default=4)'
    patched = facts_of(run(Launch(), box(package("0.5.10", more=more), command=command)))
    plain = facts_of(run(Launch(), box(command=command)))
    assert patched.number("launch.pp_refill_stride") == 3 and "launch.unknown" not in patched
    assert plain.items("launch.unknown") == ["--pp-refill-stride"]


class Counting(FakeTarget):
    opened = 0

    def source(self, host: str) -> FakeSource:
        self.opened += 1
        if host == "second" and self.kind == "recording":
            raise NotRecorded("only the first host's was recorded")
        return super().source(host)


@pytest.mark.parametrize(("kind", "opened"), [("recording", 2), ("ssh", 1)])
def test_a_source_is_read_once_and_speaks_for_all_hosts_of_its_version(kind: str, opened: int) -> None:
    texts = {Artifact.VERSION: "0.5.10"}
    target = Counting({"first": texts, "second": texts}, source=package("0.5.10", without=["--pp-async-batch-depth"]))
    target.kind = kind
    context = ToolContext(target)
    for host in ("first", "second", "first"):
        found = flags_of(context, host)
        assert found is not None and found.differences.removed == ("--pp-async-batch-depth",)
    assert target.opened == opened


def test_the_finding_is_evidence_like_any_other() -> None:
    target = box(package("0.5.10"))
    (finding,) = SourceFlags().run(ToolContext(target), NoArguments())
    check(SourceFlags(), finding, target)
