"""Admission: a cap that is too low, a pool that is too small, and their healthy twin."""

from dataclasses import replace

from ppagent_lab.cases.common import DEPTH, EMULATED, LIMIT, NEVER
from ppagent_lab.shapes import Alternative, Answer, Case, Device, Load

CAP = "--max-running-requests"
POOL = "--max-total-tokens"
SIXTEEN = Load(clients=16)
STAGE = Device(stage_ms=(40,), per_request_ms=(3,))

_TOO_SMALL = Answer(
    verdict="diagnosed",
    causes=("KV001",),
    also_accepted=(*EMULATED, "PP001"),
    must_not_support=(*NEVER, "KV002", "PP002", "PP003", "PP004", "KV005"),
    fixes=(
        Alternative(set={POOL: "1500..200000"}),
        Alternative(unset=(POOL,)),
        Alternative(set={CAP: "1..12"}),
        Alternative(set={"--schedule-conservativeness": "0.2..2"}),
        Alternative(unset=("--schedule-conservativeness",)),
    ),
    forbidden_changes=(DEPTH,),
    note="The pool of 1,400 tokens does not hold what sixteen requests grow to; the log shows retractions.",
)

CASES = (
    Case(
        name="lab-cap-four-pp2",
        title="Four run, the others wait",
        question="First tokens take seconds as soon as more than four people use it. Do we need more memory?",
        pp=2,
        device=STAGE,
        load=SIXTEEN,
        arguments=(CAP, "4"),
        alternatives=(Alternative(set={CAP: "16"}),),
        answer=Answer(
            verdict="diagnosed",
            causes=("KV002",),
            also_accepted=(*EMULATED, "PP003"),
            must_not_support=(*NEVER, "KV001", "PP001", "PP002", "PP004", "KV005"),
            ruled_out=("KV001",),
            fixes=(Alternative(set={CAP: "8..512"}), Alternative(unset=(CAP,))),
            forbidden_changes=(DEPTH, "--mem-fraction-static"),
            note="The cap of four requests holds the rest back; less than a tenth of the pool is used.",
        ),
    ),
    Case(
        name="lab-roomy-cap-pp2",
        title="Sixteen clients under a cap of sixty-four",
        question="Is the cap of 64 running requests what limits us?",
        pp=2,
        device=replace(STAGE, per_request_ms=(1,)),
        load=SIXTEEN,
        arguments=(CAP, "64", LIMIT, "8"),
        alone=True,
        answer=Answer(
            verdict="healthy",
            also_accepted=(*EMULATED, "LB001", "PP007"),
            must_not_support=(*NEVER, "KV001", "KV002", "KV005", "PP001", "PP003", "PP004"),
            ruled_out=("KV002",),
            forbidden_changes=(CAP, DEPTH),
            note="All sixteen run at once, eight in each slot, and nothing waits.",
        ),
    ),
    Case(
        name="lab-small-pool-pp2",
        title="Requests are thrown out and start again",
        question="Some answers stop for seconds in the middle and then go on. What is that?",
        pp=2,
        device=STAGE,
        load=Load(clients=16, output_tokens=(120, 200)),
        arguments=(POOL, "1400", "--schedule-conservativeness", "0.1"),
        measure_s=60,
        answer=_TOO_SMALL,
    ),
    Case(
        name="lab-small-pool-pp2-0510",
        title="A pool for six requests and sixteen clients",
        question="Throughput goes up and down all the time under constant load. Why?",
        version="0.5.10",
        pp=2,
        device=STAGE,
        load=Load(clients=16, output_tokens=(120, 200)),
        arguments=(POOL, "1400", "--schedule-conservativeness", "0.1"),
        measure_s=60,
        answer=_TOO_SMALL,
    ),
)
