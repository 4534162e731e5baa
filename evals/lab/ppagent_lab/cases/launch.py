"""Launches: a slow tokenizer, and commands that SGLang refuses."""

from ppagent_lab.cases.common import DEPTH, LIMIT, NEVER
from ppagent_lab.shapes import Alternative, Answer, Case, Device, Load

CASES = (
    Case(
        name="lab-slow-tokenizer-pp2",
        title="The engine is quick, the answers are not",
        question="First tokens take seconds and the stream comes in lumps, but the server's own log looks fast. Why?",
        pp=2,
        device=Device(stage_ms=(40,), per_request_ms=(2,), tokenize_ms=600),
        load=Load(clients=12, as_text=True),
        arguments=(LIMIT, "6"),
        answer=Answer(
            verdict="diagnosed",
            causes=("CP002",),
            also_accepted=("CG001", "CP001"),
            must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP002", "PP003", "PP004", "PP008"),
            ruled_out=("KV001",),
            forbidden_changes=(DEPTH, LIMIT),
            note="Encoding a prompt takes 0.6 s and holds up the process that also sends every token out.",
        ),
    ),
    Case(
        name="lab-old-flag-refused",
        title="The launch script of last year no longer starts",
        question="Same script as always, new image, and now it ends at once. What do I have to change?",
        pp=4,
        load=None,
        arguments=("--max-micro-batch-size", "8"),
        trouble="refused",
        answer=Answer(
            verdict="diagnosed",
            causes=("LA004",),
            must_not_support=(*NEVER, "LA001", "LA002", "LA003", "PP003"),
            fixes=(Alternative(set={LIMIT: "8"}), Alternative(unset=("--max-micro-batch-size",))),
            forbidden_changes=(DEPTH,),
            note="The slot limit has another name in this version.",
        ),
    ),
    Case(
        name="lab-new-flag-refused-0510",
        title="A flag from the newest documentation",
        question="Copied the command out of the docs. error: unrecognized arguments. Is our build broken?",
        version="0.5.10",
        pp=4,
        load=None,
        arguments=("--cuda-graph-backend-decode", "full"),
        trouble="refused",
        answer=Answer(
            verdict="diagnosed",
            causes=("LA004",),
            must_not_support=(*NEVER, "LA001", "LA002", "LA003"),
            fixes=(Alternative(unset=("--cuda-graph-backend-decode",)),),
            forbidden_changes=(DEPTH, "--disable-cuda-graph"),
            note="0.5.10 has no such flag yet.",
        ),
    ),
    Case(
        name="lab-mixed-chunk-refused-0510",
        title="Mixed chunks and a pipeline",
        question="We wanted prefill and decode in one batch, and now it does not come up. Memory?",
        version="0.5.10",
        pp=4,
        load=None,
        arguments=("--enable-mixed-chunk",),
        trouble="refused",
        answer=Answer(
            verdict="diagnosed",
            causes=("LA001",),
            must_not_support=(*NEVER, "LA002", "LA003", "LA004"),
            fixes=(Alternative(unset=("--enable-mixed-chunk",)),),
            forbidden_changes=(DEPTH, "--mem-fraction-static"),
            note="This version refuses mixed chunks under pipeline parallelism.",
        ),
    ),
)
