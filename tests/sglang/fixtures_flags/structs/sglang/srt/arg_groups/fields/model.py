# ruff: noqa
import msgspec

from sglang.srt.arg_groups.arg_utils import A, Arg
from sglang.srt.arg_groups.choices import FORMATS


class Model(msgspec.Struct):
    _NS_PATH = "model"

    load_format: A[str, Arg(help="Format.", choices=FORMATS + ["remote"])] = "auto"
    model_path: A[str, "Where the weights are."]
    paths: A[list[str], Arg(help="Paths.", nargs="*")] = msgspec.field(default_factory=list)
