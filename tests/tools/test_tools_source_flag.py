from pathlib import Path

import pytest

from ppagent.errors import ToolError
from ppagent.plugins import ToolContext
from ppagent.targets.recording import Recording
from ppagent_tools.source_flag import FlagArguments, SourceFlag

FORK = """
import argparse
import dataclasses


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    pp_size: int = 1
    pp_refill_stride: int = 4

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        parser.add_argument("--model-path", type=str, required=True)
        parser.add_argument("--pipeline-parallel-size", "--pp-size", type=int, default=ServerArgs.pp_size)
        parser.add_argument(
            "--pp-refill-stride", type=int, default=ServerArgs.pp_refill_stride, help="steps between refills"
        )
"""


def fork(tmp_path: Path, text: str = FORK) -> ToolContext:
    package = tmp_path / "hosts" / "box" / "source" / "sglang"
    (package / "srt").mkdir(parents=True)
    (package / "version.py").write_text('__version__ = "0.5.11"\n')
    (package / "srt" / "server_args.py").write_text(text)
    return ToolContext(Recording(tmp_path))


def test_a_flag_that_a_fork_added_is_told_with_its_type_default_and_line(tmp_path: Path) -> None:
    (found,) = SourceFlag().run(fork(tmp_path), FlagArguments(flag="--pp-refill-stride"))

    told = found.facts["source.flag"]
    assert isinstance(told, dict)
    assert (told["name"], told["dest"], told["type"], told["default"]) == (
        "--pp-refill-stride",
        "pp_refill_stride",
        "int",
        4,
    )
    assert told["takes_value"] is True
    assert found.artifact == "source/sglang/srt/server_args.py"
    assert "--pp-refill-stride" in found.excerpt


def test_a_flag_that_the_source_lacks_is_refused_with_its_nearest(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="no flag --pp-refill-strides; it has --pp-refill-stride"):
        SourceFlag().run(fork(tmp_path), FlagArguments(flag="--pp-refill-strides"))


def test_a_flag_that_only_a_comment_names_is_not_declared(tmp_path: Path) -> None:
    context = fork(tmp_path, FORK + '\n# parser.add_argument("--open-door", action="store_true")\n')

    with pytest.raises(ToolError, match="no flag --open-door"):
        SourceFlag().run(context, FlagArguments(flag="--open-door"))
