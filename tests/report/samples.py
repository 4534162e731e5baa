"""Investigations to report on, made by the real loop out of fake tools and causes."""

from collections.abc import Sequence

from ppagent.agent.investigation import Investigation
from ppagent.causes.cause import Change, Declined
from ppagent.causes.judge import Judgement
from ppagent.changes.proposal import Plan, Predicted, Proposal
from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue
from ppagent.evidence.facts import Facts
from ppagent.model.waterfall import Level, build_waterfall
from tests.agent.fakes import FakeCause, FakeTool, built_in, look_into

COMMAND = (
    "SGLANG_PP_LAYER_PARTITION=8,8,8,8,8,8,8,5 python -m sglang.launch_server "
    "--model-path /models/a-model-with-a-long-name --pp-size 8 --pp-max-micro-batch-size 1 --port 30000"
)
CAUSES = [
    FakeCause("PP001", "source.unfilled", name="micro-batches unfilled"),
    FakeCause("KV001", "source.full", name="KV pool exhausted"),
    FakeCause("PP007", "source.exposed", name="return path exposed", tool="profile.trace", grade=3),
]
FACTS: dict[str, FactValue] = {
    "engine.version": "0.5.11",
    "args.pp_size": 8,
    "args.tp_size": 1,
    "gpu.names": {str(n): "NVIDIA RTX PRO 6000" for n in range(8)},
    "source.unfilled": True,
    "source.full": False,
    "recording.origin": "measured",
    "recording.gpus": "8x cards, device emulated",
}


def plan(supported: Sequence[Judgement], facts: Facts) -> Plan:
    live = Proposal(
        id="P1",
        causes=("PP001",),
        kind="live",
        title="Let a slot admit one request",
        change=Change({"--pp-max-micro-batch-size": "1"}),
        cites=("E1",),
        command="curl -s -X POST http://127.0.0.1:30000/set_internal_state -d '{}'",
        predicted=Predicted("output_throughput", 8, 95.6, 165, 195, "ring"),
        risks=("above 8 requests a queue forms",),
        verify="tok/s rises at the same load",
        rollback="set it back to 256",
    )
    relaunch = Proposal(
        id="P2",
        causes=("PP001",),
        kind="relaunch",
        title="The same in the launch",
        change=Change({"--pp-max-micro-batch-size": "1"}, ("--disable-cuda-graph",), {"A": "b"}),
        cites=("E1",),
        command=COMMAND,
        diff="  --pp-size 8\n- --disable-cuda-graph\n+ --pp-max-micro-batch-size 1",
    )
    declined = Declined("--pp-async-batch-depth", "it adds slots and yours are empty", ("E1",))
    priced = build_waterfall(200, [Level("PP001", 95.6, "micro-batches unfilled")], 95.6)
    alone = Predicted("output_throughput", 8, 95.6, 165, 195)
    return Plan((live, relaunch), (declined,), gains={"PP001": alone}, waterfall=priced)


def diagnosed(excerpt: str = "Decode batch, #running-req: 3", **facts: FactValue) -> Investigation:
    """PP001 supported, KV001 refuted, PP007 undecided; one tool had no answer."""
    told = FakeTool("logs.decode", {**FACTS, **facts}, excerpt=excerpt)
    silent = FakeTool("profile.trace", error=NotRecorded("no trace was recorded"), provides=("source.exposed",))
    return look_into(built_in(told, silent), causes=CAUSES, planner=plan)


def undecided() -> Investigation:
    return look_into(causes=CAUSES)
