"""What was found at first sight: server, version, shape and load, in a few lines."""

from ppagent.agent.investigation import Investigation
from ppagent.causes.admission import pipelined
from ppagent.chat.wording import tagged
from ppagent.evidence.facts import Facts
from ppagent.report.headline import headline, provenance
from ppagent.report.lines import Line, wrapped
from ppagent.report.rate import rate
from ppagent.targets.target import Shared

MOST_LEVELS = 6
MOST_REASONS = 2


def overview(found: Investigation, width: int) -> list[Line]:
    """The head of a session."""
    facts = found.facts
    lines = wrapped(headline(found), width, tone="title")
    origin = provenance(found)
    lines += wrapped(origin, width, tone="dim") if origin else []
    for label, says in (("load", load_now(facts)), ("measured", _measured(facts)), ("asked", _asked(found))):
        lines += wrapped(says, width, f"  {label:<10}") if says else []
    if len(lines) == 1 and not facts.get("engine.version"):
        lines += wrapped("nothing here tells which server it is, or what it does", width, "  ")
        reasons = dict.fromkeys(missing.why for missing in found.missing)
        for reason in list(reasons)[:MOST_REASONS]:
            lines += wrapped(reason, width, f"  {'missing':<10}", tone="dim")
    return lines


def load_now(facts: Facts) -> str:
    """Requests that run (of a pipeline: in a micro-batch), queue, speed and memory, as far as log or counters tell."""
    parts: list[str] = []
    cites: list[str] = []

    def add(words: str, *names: str) -> None:
        parts.append(words)
        cites.extend(c for c in facts.cite(*names) if c not in cites)

    low, high = facts.number("decode.running_req.min"), facts.number("decode.running_req.max")
    if low is not None and high is not None:
        span = f"{low:g}" if low == high else f"{low:g}-{high:g}"
        where = "running" if pipelined(facts) is False else "in a micro-batch"
        add(f"{span} request{'' if span == '1' else 's'} {where}", "decode.running_req.min")
    flying = facts.number("metrics.in_flight")
    if flying:
        add(f"{rate(flying)} in flight", "metrics.in_flight")
    queue = facts.first("decode.queue_req.p50", "metrics.queue_reqs", "loads.waiting")
    if queue is not None and queue.number is not None:
        add(f"queue {queue.number:g}", queue.name)
    speed = facts.first("metrics.gen_throughput", "decode.throughput.p50", "internal.last_gen_throughput")
    if speed is not None and speed.number:
        add(f"{rate(speed.number)} tok/s", speed.name)
    usage = facts.first("decode.token_usage.max", "metrics.token_usage", "loads.token_usage")
    if usage is not None and usage.number is not None:
        add(f"KV pool {100 * usage.number:.0f} % used", usage.name)
    return tagged(", ".join(parts), cites) if parts else ""


def _measured(facts: Facts) -> str:
    rows = [row for row in facts.items("bench.levels") if isinstance(row, dict)]
    pairs = [(row.get("concurrency"), row.get("output_throughput")) for row in rows]
    known = [(c, x) for c, x in pairs if isinstance(c, int | float) and isinstance(x, int | float)]
    if not known:
        return ""
    shown = sorted(known)[:MOST_LEVELS]
    speeds = " / ".join(f"{rate(x)}" for _, x in shown)
    loads = "/".join(f"{c:g}" for c, _ in shown)
    return tagged(f"{speeds} tok/s at C={loads}", facts.cite("bench.levels"))


def _asked(found: Investigation) -> str:
    """What was asked where it was recorded; what is said in a session stands on the screen already."""
    for item in found.evidence:
        question = item.facts.get("stated.question")
        if item.artifact == Shared.INCIDENT.value and isinstance(question, str):
            return tagged(f'"{" ".join(question.split())}"', (item.id,))
    return ""
