# ruff: noqa
from __future__ import annotations

import argparse
import dataclasses
import json
from typing import List, Literal, Optional, Union

from sglang.srt.arg_groups.argparse_actions import (
    DeprecatedAction,
    DeprecatedAliasStoreAction,
    DeprecatedStoreConstAction,
    DeprecatedStoreTrueAction,
)
from sglang.srt.environ import envs

SAMPLERS = {"flashinfer", "pytorch"}
if envs.SGLANG_TEST_ORACLE.get():
    SAMPLERS.add("oracle")
if envs.SGLANG_TEST_EXTRA.get():
    SAMPLERS.add("ascend")


class Backend:
    FULL = "full"
    DISABLED = "disabled"
    ALL = (FULL, DISABLED)


@dataclasses.dataclass
class ServerArgs:
    # -------------------------------------------------------------------------
    # Model and tokenizer
    # -------------------------------------------------------------------------
    model_path: A[str, Arg(help="Where the weights are.", aliases=["--model"])]
    trust: A[bool, "Whether to trust it."] = False
    tp_size: A[int, Arg(help="Tensor parallelism.", aliases=["--tensor-size"]), NS("parallel")] = 1
    graph_bs: A[Optional[List[int]], "Sizes."] = None
    mode: A[Literal["auto", "slow"], "Mode."] = "auto"
    level: A[Optional[Literal[1, 2]], "Level."] = None
    sampler: A[str | None, Arg(help="Sampler.", choices=SAMPLERS)] = None
    backend: A[Optional[str], Arg(help="Backend.", choices=Backend.ALL, cli_name="--graph-backend")] = None
    config: A[Optional[Union[str, dict]], Arg(help="JSON.", type_parser=json.loads)] = None
    strict: A[Optional[bool], Arg(help="Strict.", action=argparse.BooleanOptionalAction)] = None
    internal: A[int, Arg(help="Not for users.", no_cli=True)] = 3
    plain: int = 5

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser):
        add_cli_args_from_dataclass(parser, ServerArgs)

        parser.add_argument("--by-hand", type=int, default=ServerArgs.plain)
        if envs.SGLANG_TEST_ORACLE.get():
            parser.add_argument("--oracle")
        parser.add_argument(
            "--disable-graph", action=DeprecatedStoreTrueAction, new_flag="--graph-backend=disabled", help="Deprecated."
        )
        parser.add_argument(
            "--full-graph", action=DeprecatedStoreConstAction, dest="backend", const_value=Backend.FULL, new_flag="--g"
        )
        parser.add_argument(
            "--max-bs", type=int, action=DeprecatedAliasStoreAction, new_flag="--graph-bs", dest="graph_bs"
        )
        parser.add_argument(
            "--vendor", action=DeprecatedStoreConstAction, nargs=None, choices=["amd"], const_value=True
        )
        parser.add_argument("--gone", action=DeprecatedAction, error_message="Use --by-hand.", help="Removed.")
        parser.add_argument("--noop", action=DeprecatedAction, help="Deprecated.")
        parser.add_argument(
            "--fusion", action="store_true", help="(Deprecated: use --fusion-backend=auto) Fuses two kernels."
        )
