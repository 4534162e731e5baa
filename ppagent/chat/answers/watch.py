"""Which metric should I watch? What shows that a change worked, and the few figures that tell trouble."""

from ppagent.agent.investigation import Investigation
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.lines import Line, wrapped

GAUGES = (
    ("sglang:gen_throughput", "tok/s, 'gen throughput' in the log's decode lines",
     ("metrics.gen_throughput", "decode.throughput.p50")),
    ("sglang:num_running_reqs", "requests of one micro-batch, #running-req in the log",
     ("metrics.running_reqs", "decode.running_req.p50")),
    ("sglang:num_queue_reqs", "requests that wait, #queue-req in the log",
     ("metrics.queue_reqs", "decode.queue_req.p50")),
    ("sglang:token_usage", "share of the KV pool in use, 'token usage' in the log",
     ("decode.token_usage.max", "metrics.token_usage")),
)  # fmt: skip
"""The metric, what it is and where the log has it, and the facts that hold its value of now."""
SWITCHED_ON = "The server has these at /metrics where it was launched with --enable-metrics; the log always has them."


def watch_lines(found: Investigation, width: int) -> list[Line]:
    """How to see that each proposal worked, then the gauges with their values of now."""
    lines: list[Line] = []
    for proposal in found.plan.proposals:
        if proposal.verify:
            lines += wrapped(proposal.verify, width, f"  after {proposal.id}  ")
    lines = [Line("What shows that a change worked:", "verdict"), *lines] if lines else []
    lines += wrapped("What to watch in any case:", width, tone="verdict")
    for metric, means, names in GAUGES:
        lines += wrapped(f"{metric}: {means}{_now(found.facts, names)}", width, "  - ")
    return [*lines, *wrapped(SWITCHED_ON, width, "  ", tone="dim")]


def _now(facts: Facts, names: tuple[str, ...]) -> str:
    fact = facts.first(*names)
    return (
        tagged(f"; seen here {fact.number:.4g}", (fact.evidence,))
        if fact is not None and fact.number is not None
        else "; not seen here"
    )
