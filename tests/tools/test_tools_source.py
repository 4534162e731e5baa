import pytest
from pydantic import ValidationError
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.target import Artifact
from ppagent_tools.source import Grep, Read, SourceFacts

PATH = "sglang/srt/managers/scheduler_pp_mixin.py"
LOOP = """\
class SchedulerPPMixin:
    def init_pp_loop_state(self):
        self.pp_loop_size: int = self.pp_size + self.server_args.pp_async_batch_depth
        self.mbs = [None] * self.pp_loop_size
"""


def tree(version: str = "0.5.11") -> FakeTarget:
    return FakeTarget({"box": {Artifact.VERSION: version}}, source={PATH: LOOP})


def test_slots_are_read_in_the_source_and_the_line_is_quoted() -> None:
    findings = run(SourceFacts(), tree())
    slots = next(f for f in findings if "source.slots" in f.facts)
    assert slots.facts["source.slots"] == "pp_size + pp_async_batch_depth"
    assert slots.facts["source.origin"] == "tree"
    assert slots.artifact == f"source/{PATH}"
    assert slots.excerpt == "self.pp_loop_size: int = self.pp_size + self.server_args.pp_async_batch_depth"


@pytest.mark.parametrize(
    ("version", "slots", "flag"),
    [
        ("0.5.11", "pp_size + pp_async_batch_depth", "--pp-max-micro-batch-size"),
        ("0.5.5", "pp_size", "--pp-max-micro-batch-size"),
        ("0.4.10", "pp_size", "--max-micro-batch-size"),
    ],
)
def test_without_source_the_table_answers_and_says_so(version: str, slots: str, flag: str) -> None:
    findings = run(SourceFacts(), box(version=version))
    facts = facts_of(findings)
    assert facts.text("source.slots") == slots
    assert facts.text("source.slot_limit_flag") == flag
    assert facts.text("source.origin") == "table by version"
    assert findings[0].artifact == "sglang_version.txt"
    assert findings[0].excerpt == version


def test_without_source_and_version_nothing_is_claimed() -> None:
    with pytest.raises(NotRecorded):
        run(SourceFacts(), box())


def test_grep_gives_path_line_and_text() -> None:
    (finding,) = run(Grep(), tree(), pattern="pp_loop_size", limit=1)
    assert finding.facts["source.hits"] == [
        {
            "path": PATH,
            "line": 3,
            "text": "self.pp_loop_size: int = self.pp_size + self.server_args.pp_async_batch_depth",
        }
    ]
    assert run(Grep(), tree(), pattern="nowhere")[0].facts == {"source.hits": []}


def test_a_passage_is_read_from_a_line_on() -> None:
    (finding,) = run(Read(), tree(), path=PATH, first_line=2, lines=1)
    assert finding.facts["source.text"] == "    def init_pp_loop_state(self):\n"
    with pytest.raises(ToolError, match="has 4 lines"):
        run(Read(), tree(), path=PATH, first_line=99)


def test_arguments_are_held_to_their_bounds() -> None:
    with pytest.raises(ValidationError):
        Grep.arguments(pattern="x", limit=0)
    with pytest.raises(ValidationError):
        Read.arguments(path="x", more="y")
