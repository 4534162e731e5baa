"""Launches: graphs switched off and on, and commands that SGLang refuses."""

from ppagent_lab.cases.common import DEPTH, LIMIT, NEVER
from ppagent_lab.shapes import Alternative, Answer, Case, Device, Load

EAGER = Device(stage_ms=(15,), per_request_ms=(2,), launch_ms=(60,), replay_ms=(2,))
"""Launching kernel by kernel takes the host three times as long as the device needs for the work."""
EIGHT = Load(clients=8)
GRAPHS_OFF = "--disable-cuda-graph"

CASES = (
    Case(
        name="lab-graphs-off-pp4-0510",
        title="Started without graphs after a crash in the summer",
        question="We get half the tokens of the sister cluster from the same cards. It was restarted by hand in July.",
        version="0.5.10",
        pp=4,
        device=EAGER,
        load=EIGHT,
        arguments=(LIMIT, "2", GRAPHS_OFF),
        alternatives=(Alternative(unset=(GRAPHS_OFF,)),),
        answer=Answer(
            verdict="diagnosed",
            causes=("CG001",),
            also_accepted=("CP001",),
            must_not_support=(*NEVER, "KV001", "KV002", "PP001", "PP002", "PP003", "PP004", "PP008"),
            ruled_out=("KV001",),
            fixes=(Alternative(unset=(GRAPHS_OFF,)),),
            forbidden_changes=(DEPTH,),
            evidence=("server.log", "launch.txt"),
            note="Every decode line says that no graph was used, by the flag; launching takes longer than the work.",
        ),
    ),
    Case(
        name="lab-graphs-on-pp4-0510",
        title="The sister cluster, with graphs",
        question="Is this one all right? It is the one that we compare the others with.",
        version="0.5.10",
        pp=4,
        device=EAGER,
        load=EIGHT,
        arguments=(LIMIT, "2"),
        answer=Answer(
            verdict="healthy",
            also_accepted=("LB001", "PP007", "CP001"),
            must_not_support=(*NEVER, "CG001", "KV001", "KV002", "PP001", "PP003", "PP004", "PP008"),
            ruled_out=("KV001",),
            forbidden_changes=(DEPTH, LIMIT, GRAPHS_OFF),
            note="Decode steps are replayed as graphs, two requests in each slot, nothing waits.",
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
            forbidden_changes=(DEPTH, GRAPHS_OFF),
            note="0.5.10 has no such flag yet.",
        ),
    ),
    Case(
        name="lab-mixed-chunk-refused",
        title="Mixed chunks and a pipeline",
        question="We wanted prefill and decode in one batch, and now it does not come up. Memory?",
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
