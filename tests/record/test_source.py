"""Of the installed source, what a diagnosis reads is recorded: no less, and little more."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from ppagent.errors import NotRecorded, ToolError
from ppagent.record import source
from ppagent.record.masking import masked
from ppagent.record.source import recorded_source
from ppagent.sglang.flags.catalogue import read_catalogue
from ppagent.targets.source_files import SourceFiles
from tests.record.record_fakes import FarSource

SERVER_ARGS = """import argparse
from sglang.srt.choices.names import BACKENDS
class ServerArgs:
    api_key: str = None
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--pp-size", type=int, default=1)
        parser.add_argument("--api-key", type=str, default=None)
        parser.add_argument("--attention-backend", type=str, choices=BACKENDS)
"""
FILES = {
    "sglang/version.py": '__version__ = "0.5.10"\n',
    "sglang/srt/server_args.py": SERVER_ARGS,
    "sglang/srt/choices/__init__.py": "",
    "sglang/srt/choices/names.py": 'BACKENDS = ["fa3", "triton"]\n',
    "sglang/srt/managers/scheduler_pp_mixin.py": "class SchedulerPPMixin:\n    pass\n",
    "sglang/srt/models/llama.py": "class LlamaForCausalLM:\n    def forward(self, pp_proxy_tensors): ...\n",
    "sglang/srt/models/qwen.py": "class QwenForCausalLM:\n    def forward(self): ...\n",
    "sglang/srt/utils/other.py": "x = 1\n",
}


@pytest.fixture
def installed(tmp_path: Path) -> SourceFiles:
    for place, text in FILES.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    return SourceFiles(tmp_path)


class InOneGo(FarSource):
    """Notes what is fetched together."""

    def __init__(self, tree: SourceFiles) -> None:
        super().__init__(tree)
        self.fetched: list[list[str]] = []

    def fetch(self, paths: Iterable[str]) -> None:
        self.fetched.append(sorted(paths))


def test_files_that_flags_are_read_in_come_along_and_unrelated_ones_do_not(installed: SourceFiles) -> None:
    files = recorded_source(FarSource(installed), ["LlamaForCausalLM", "not a name("]).texts
    assert "sglang/srt/choices/names.py" in files
    assert "sglang/srt/models/llama.py" in files
    assert not {"sglang/srt/models/qwen.py", "sglang/srt/utils/other.py"} & set(files)


def test_the_flags_read_from_a_recording_are_those_installed(installed: SourceFiles, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for place, text in recorded_source(FarSource(installed)).texts.items():
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        (copy / place).write_text(masked(f"source/{place}", text))
    whole, recorded = read_catalogue(installed.root), read_catalogue(copy)
    assert recorded.flags == whole.flags
    assert [flag.choices for flag in recorded.flags][-1] == ("fa3", "triton")


def test_files_far_away_are_fetched_together(installed: SourceFiles) -> None:
    tree = InOneGo(installed)
    files = recorded_source(tree).texts
    assert sorted(path for paths in tree.fetched for path in paths) == sorted(files)
    assert len(tree.fetched[0]) == 3


def test_a_recording_of_a_recording_keeps_all_of_its_source(installed: SourceFiles) -> None:
    assert set(recorded_source(installed).texts) == set(FILES)


def test_what_is_too_large_is_left_out_and_named(installed: SourceFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LARGEST_FILE", 100)
    found = recorded_source(installed)
    assert found.left_out == ("sglang/srt/server_args.py",)
    monkeypatch.setattr(source, "LARGEST_SOURCE", 60)
    assert sum(map(len, recorded_source(installed).texts.values())) <= 60


def test_a_file_that_cannot_be_read_is_left_out(installed: SourceFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = FarSource(installed)

    def read(path: str) -> str:
        if path.endswith("mixin.py"):
            raise ToolError("rights are missing")
        return installed.read(path)

    monkeypatch.setattr(tree, "read", read)
    assert recorded_source(tree).left_out == ("sglang/srt/managers/scheduler_pp_mixin.py",)


def test_no_source_at_all_was_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(NotRecorded):
        recorded_source(FarSource(SourceFiles(tmp_path)))
