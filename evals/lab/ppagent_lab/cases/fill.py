"""Slots: clumped, spread, too small, large enough."""

from dataclasses import replace

from ppagent_lab.cases.common import DEPTH, EMULATED, LIMIT, NEVER, limit
from ppagent_lab.shapes import Answer, Case, Device, Load

EIGHT = Load(clients=8)
SIXTEEN = Load(clients=16)
PP8_STAGE = Device(stage_ms=(40,), per_request_ms=(8,))

_CLUMPED = Answer(
    verdict="diagnosed",
    causes=("PP001",),
    also_accepted=EMULATED,
    must_not_support=(*NEVER, "KV001", "KV002", "PP002", "PP003", "PP004", "PP008"),
    ruled_out=("KV001", "PP003"),
    forbidden_changes=(DEPTH,),
    fixes=(limit("1"),),
    note="Under the default limit every request joins the slot that is filled already; the other slots stay empty.",
)
_SPREAD = Answer(
    verdict="healthy",
    also_accepted=(*EMULATED, "LB001", "PP007"),
    must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP003", "PP004", "PP008"),
    ruled_out=("KV001",),
    forbidden_changes=(DEPTH, LIMIT),
    note="The limit spreads the requests over all slots; nothing waits and the pool is nearly empty.",
)

CASES = (
    Case(
        name="lab-clumped-pp8",
        title="Eight users, eight stages, nine tokens a second",
        question="Eight people use this and together they get 9 tok/s. A stage takes 50 ms. Isn't a pipeline meant "
        "to work on eight requests at once?",
        pp=8,
        device=PP8_STAGE,
        load=EIGHT,
        alternatives=(limit("1", live=True), limit("2", live=True)),
        answer=_CLUMPED,
    ),
    Case(
        name="lab-spread-pp8",
        title="Eight users, one in each slot",
        question="Is there anything left to gain on this one? Eight users, eight stages.",
        pp=8,
        device=PP8_STAGE,
        load=EIGHT,
        arguments=(LIMIT, "1"),
        alone=True,
        answer=_SPREAD,
    ),
    Case(
        name="lab-depth-for-nothing-pp4",
        title="Async depth raised, nothing gained",
        question="We raised the async batch depth to 2 as a blog recommends, and nothing changed. Raise it further?",
        pp=4,
        device=Device(stage_ms=(50,), per_request_ms=(8,)),
        load=EIGHT,
        arguments=(DEPTH, "2"),
        alternatives=(limit("2", live=True),),
        answer=replace(
            _CLUMPED,
            forbidden_changes=("--pp-async-batch-depth=3..8",),
            fixes=(limit("1..2"),),
            note="Depth adds slots; the requests still clump into one of them. A limit of 2 spreads them.",
        ),
    ),
    Case(
        name="lab-clumped-pp4-0510",
        title="Half the speed that four stages should give",
        question="Four stages of about 60 ms and eight clients, and I see a third of what I worked out. Why?",
        version="0.5.10",
        pp=4,
        device=Device(stage_ms=(40,), per_request_ms=(8,)),
        load=EIGHT,
        alternatives=(limit("2", live=True),),
        answer=replace(_CLUMPED, fixes=(limit("1..2"),)),
    ),
    Case(
        name="lab-spread-pp4-0510",
        title="Two requests in each of four slots",
        question="Someone set the micro-batch limit to 2 here. Is that right, or should it go?",
        version="0.5.10",
        pp=4,
        device=Device(stage_ms=(40,), per_request_ms=(8,)),
        load=EIGHT,
        arguments=(LIMIT, "2"),
        alone=True,
        answer=_SPREAD,
    ),
    Case(
        name="lab-limit-left-pp4",
        title="Requests wait before a nearly empty cache",
        question="Sixteen clients, twelve of them always waiting for their first token. The KV cache is empty. Why?",
        pp=4,
        device=Device(stage_ms=(40,), per_request_ms=(4,)),
        load=SIXTEEN,
        arguments=(LIMIT, "1"),
        alternatives=(limit("4", live=True),),
        answer=replace(
            _CLUMPED,
            causes=("PP003",),
            must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP002", "PP004", "PP008"),
            ruled_out=("KV001", "PP001"),
            fixes=(limit("2..16"),),
            note="One request a slot and four slots: four run, the other twelve queue.",
        ),
    ),
    Case(
        name="lab-limit-fits-pp4",
        title="Sixteen clients, four in each slot",
        question="Can this be made faster by a launch setting?",
        pp=4,
        device=Device(stage_ms=(40,), per_request_ms=(2,)),
        load=SIXTEEN,
        arguments=(LIMIT, "4"),
        alone=True,
        answer=_SPREAD,
    ),
)
