"""The server that `bench` and `try` act on, or what is wrong with the way to it and what to do."""

import argparse
import os

from ppagent.bench.endpoint import is_url, parse_endpoint
from ppagent.bench.meeting import meet
from ppagent.bench.reach import Reached, reach
from ppagent.cli.left_behind import telling_what_died


def reached_server(args: argparse.Namespace) -> Reached:
    """Raises UserError where an address leads to no SGLang server, ToolError where a host cannot be looked at."""
    with telling_what_died(args.target):
        if is_url(args.target):
            meet(parse_endpoint(args.target, os.environ))
        return reach(args.target, args.port, os.environ)
