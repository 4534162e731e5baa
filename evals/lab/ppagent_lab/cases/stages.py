"""Stages: one slower than the rest, an uneven split, one that stops."""

from dataclasses import replace

from ppagent_lab.cases.common import DEPTH, EMULATED, LIMIT, NEVER, OPERATOR
from ppagent_lab.shapes import Alternative, Answer, Case, Device, Load

PARTITION = "SGLANG_PP_LAYER_PARTITION"
LAYER_MS = 20.0

_UNEVEN = Answer(
    verdict="diagnosed",
    causes=("PP004",),
    also_accepted=(*EMULATED, "HW003"),
    must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP002", "PP003", "PP008"),
    ruled_out=("KV001",),
    forbidden_changes=(DEPTH,),
    note="One stage takes more than twice as long as its neighbours, and the whole ring goes at its pace.",
)

CASES = (
    Case(
        name="lab-slow-stage-pp4",
        title="One of four equal stages is slow",
        question="Four stages with two layers each, so they should take the same time. Throughput is half of what I "
        "expect. Which one is it?",
        pp=4,
        device=Device(stage_ms=(40, 40, 110, 40), per_request_ms=(4,)),
        load=Load(clients=4),
        arguments=(LIMIT, "1"),
        alone=True,
        answer=replace(_UNEVEN, fixes=(Alternative(env={PARTITION: "*"}), OPERATOR)),
    ),
    Case(
        name="lab-uneven-split-pp4",
        title="Five of eight layers on the last stage",
        question="We set the layer partition by hand to leave room on the first cards. Is that what slows us down?",
        pp=4,
        device=Device(stage_ms=(LAYER_MS, LAYER_MS, LAYER_MS, 5 * LAYER_MS), per_request_ms=(4,)),
        load=Load(clients=8),
        arguments=(LIMIT, "2"),
        environment={PARTITION: "1,1,1,5"},
        alternatives=(
            Alternative(env={PARTITION: "2,2,2,2"}, device=Device(stage_ms=(2 * LAYER_MS,), per_request_ms=(4,))),
        ),
        answer=replace(
            _UNEVEN,
            fixes=(Alternative(env={PARTITION: "*"}),),
            note="1,1,1,5: the last stage has five times the layers of the others and paces them all.",
        ),
    ),
    Case(
        name="lab-even-split-pp4",
        title="A partition set by hand that changes nothing",
        question="We set the layer partition by hand. Is that what slows us down?",
        pp=4,
        device=Device(stage_ms=(2 * LAYER_MS,), per_request_ms=(4,)),
        load=Load(clients=8),
        arguments=(LIMIT, "2"),
        environment={PARTITION: "2,2,2,2"},
        alone=True,
        answer=Answer(
            verdict="healthy",
            also_accepted=(*EMULATED, "LB001", "PP007"),
            must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP003", "PP004", "PP008"),
            forbidden_changes=(DEPTH, LIMIT),
            note="2,2,2,2 is what SGLang would choose itself, the stages take the same time, and all slots are filled.",
        ),
    ),
    Case(
        name="lab-stage-hangs-pp4",
        title="It answered for a minute, then never again",
        question="The server worked and then stopped answering, no crash, all processes are there. Which stage is it?",
        pp=4,
        device=Device(stage_ms=(40,), per_request_ms=(4,)),
        load=Load(clients=8),
        arguments=(LIMIT, "2", "--watchdog-timeout", "30"),
        trouble="hang",
        measure_s=20,
        answer=Answer(
            verdict="diagnosed",
            causes=("PP008",),
            also_accepted=EMULATED,
            must_not_support=(*NEVER, "KV001", "PP001", "PP003", "PP004"),
            fixes=(OPERATOR,),
            forbidden_changes=("--watchdog-timeout", DEPTH, LIMIT),
            note="Stage 1 was stopped; the others wait for it, and only they say that they wait.",
        ),
    ),
)
