"""Traces in memory."""

import gzip
import io
import json
from typing import IO

from ppagent.profile.rank import RankSummary
from ppagent.profile.reader import read_rank
from ppagent.profile.stages import Pipeline, pipeline_of
from ppagent.sglang.profiling import parse_trace_name
from ppagent_evals.writing.traces import Ring, traces


def packed(text: str) -> IO[bytes]:
    return io.BytesIO(gzip.compress(text.encode()))


def event(category: str, name: str, begin_us: float, took_us: float, **args: object) -> dict[str, object]:
    return {"ph": "X", "cat": category, "name": name, "ts": begin_us, "dur": took_us, "args": args}


def trace_of(*events: object, **header: object) -> IO[bytes]:
    return packed(json.dumps({**header, "traceEvents": list(events)}))


def summary(*events: object, **header: object) -> RankSummary:
    return read_rank(trace_of(*events, **header), "t.trace.json.gz")


def read_ring(ring: Ring) -> Pipeline:
    """The pipeline that a modelled ring's traces show."""
    ranks = []
    for name, text in traces(ring).items():
        known = parse_trace_name(name)
        assert known is not None
        ranks.append((known.pp or 0, read_rank(packed(text), name)))
    return pipeline_of(ranks)
