# ruff: noqa
import argparse
import dataclasses
import json
import sys

import torch

from sglang.srt.names import EVERY_MODULE, MODULES
from sglang.srt.parsers import Detector

BACKENDS = ["triton", "flashinfer"]
BACKENDS.append("fa3")
BACKENDS += ["aiter"]


class DeprecatedAction(argparse.Action):
    def __init__(self, option_strings, dest, nargs=0, **kwargs):
        super().__init__(option_strings, dest, nargs=nargs, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        raise ValueError(self.help)


def nullable(text):
    return text or None


@dataclasses.dataclass
class ServerArgs:
    model_path: str
    pp_size: int = 1
    capacity: int = 10 * 1000
    largest: int = sys.maxsize
    depth: int = -1
    labels: list = dataclasses.field(default_factory=list)
    backend: str = BACKENDS[0]
    device: str = dataclasses.field(default_factory=lambda: torch.cuda.get_device_name())

    @staticmethod
    def add_cli_args(parser):
        # Model and tokenizer
        parser.add_argument("--model-path", "--model", type=str, required=True, help="Where the weights are.")
        local = list(Detector.Known.keys())
        parser.add_argument("--reasoning", choices=["auto"] + local, help=f"One of {local}.")

        # Pipeline
        parser.add_argument("--pipeline-size", "--pp-size", type=int, default=ServerArgs.pp_size, help="100%% of it.")
        parser.add_argument("--capacity", type=int, default=ServerArgs.capacity)
        parser.add_argument("--largest", type=int, default=ServerArgs.largest)
        parser.add_argument("--depth", type=int, default=ServerArgs.depth)
        parser.add_argument("--backend", choices=BACKENDS, default=ServerArgs.backend)
        parser.add_argument("--modules", nargs="*", choices=MODULES + [EVERY_MODULE])
        parser.add_argument("--override", type=json.loads)
        parser.add_argument("--dtype", type=nullable, default=None)
        parser.add_argument("--labels", nargs="+", default=ServerArgs.labels)
        parser.add_argument("--no-overlap", dest="disable_overlap", action="store_true")
        parser.add_argument("--graph", action=argparse.BooleanOptionalAction, default=True)
        parser.add_argument("--secret", help=argparse.SUPPRESS)
        parser.add_argument("--device", default=ServerArgs.device)
        parser.add_argument(
            "--enable-old",
            action=DeprecatedAction,
            help="NOTE: --enable-old is deprecated. Please set `--backend` to 'triton' instead.",
        )

    @classmethod
    def from_cli_args(cls, args):
        args.pp_size = args.pipeline_size
        return cls(**vars(args))
