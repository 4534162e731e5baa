# ruff: noqa
import sys
from enum import IntEnum

from sglang.srt.arg_groups.fields.model import Model
from sglang.srt.arg_groups.fields.parallel import Parallel


class HashMode(IntEnum):
    NONE = 0
    ALL = 2


def _names():
    module = sys.modules.get("sglang.srt.parser.registry")
    if module is not None:
        return list(module.Registry)
    from sglang.srt.parser.names import NAMES

    return list(NAMES)


class ServerArgs:
    own: int = 0

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--parser", choices=["auto"] + _names(), default=_declared_default("parser_name"))
        parser.add_argument("--hash", choices=[m.name.lower() for m in HashMode], default=HashMode.NONE.name.lower())


_INPUT_NAMESPACES = [Parallel, Model]
