# ruff: noqa
import msgspec

from sglang.srt.arg_groups.arg_utils import A, Arg, Derived


class Parallel(msgspec.Struct):
    _NS_PATH = "parallel"

    rank = Derived(doc="Not a flag.")
    pp_size: A[int, Arg(help="Pipeline parallelism.", aliases=["--pipeline-parallel-size"])] = 1
    parser_name: A[str | None, Arg(help="", no_cli=True)] = "none"
