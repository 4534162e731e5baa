"""CP004 grammar overhead

What it is
    Structured output (a JSON schema, a regular expression, tool calls with strict arguments) has to be compiled once
    a schema and masks the sampling at every step. With an unlucky backend or ever-changing schemas that work on the
    host sets the pace.

Why it matters
    Speed can fall by an order of magnitude for requests with a schema, and for all that share their batch.

Signals
    Requests waiting for a grammar, a long mean compile time, a drop that occurs only with a schema.

What refutes it
    No grammar backend, or counters that show no request waiting for one while nobody speaks of schemas.

Remedies
    Another grammar backend; reuse of schemas, so that what was compiled is found again.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.said import said
from ppagent.causes.sighting import trouble
from ppagent.evidence.facts import Facts

_WORDS = (
    r"(?:json[ _-]?schema|schemas?|grammars?|structured (?:output|generation|decoding)"
    r"|response_format|guided|regex|ebnf)"
)
_SCHEMA = rf"\b{_WORDS}\b"
_ONLY_THEN = (
    rf"\b(?:only|just|as soon as|when|once|if|with)\b[^.]{{0,60}}\b{_WORDS}\b[^.]{{0,120}}"
    r"\b(?:slow\w*|drops?|falls?|collapses?|instead|goes? (?:down|from)|without|plain|to \d)"
    rf"|\b(?:slow\w*|drops?|falls?|collapses?)\b[^.]{{0,80}}\b{_WORDS}\b"
    rf"|\b(?:without|no)\b[^.]{{0,30}}\b{_WORDS}\b[^.]{{0,60}}\b(?:fast|fine|normal|tok)"
)


class GrammarOverhead:
    id = "CP004"
    name = "grammar overhead"
    prior = 0.03
    wants = ("metrics.grammar_queue", "metrics.grammar_seconds", "args.grammar_backend", "stated.sentences")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        if facts.arg_text("grammar_backend") == "none":
            cites = facts.cite_args("grammar_backend")
            return (Observation("grammar_backend is none: there is no structured output", cites, 0.002, 0.5),)
        found = (_spoken_of(facts), _queue(facts), _compile(facts), _timed_out(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if facts.arg_text("grammar_backend") == "none" or facts.get("metrics.grammar_queue") is not None:
            return ()
        return (Probe("http.metrics", "whether requests wait for a grammar is counted there", 1),)

    def advise(self, facts: Facts) -> Advice:
        now = facts.arg_text("grammar_backend") or "xgrammar"
        wanted = "llguidance" if now == "xgrammar" else "xgrammar"
        cites = facts.cite("metrics.grammar_queue", "metrics.grammar_seconds", "stated.sentences", "stated.question")
        backend = Remedy(
            self.id,
            "relaunch",
            f"Compile and mask with {wanted} instead of {now}",
            Change(set={"--grammar-backend": wanted}),
            cites,
            risks=("backends differ in the schema features they know; try your schemas",),
            verify="requests with a schema decode about as fast as those without",
            rollback=f"--grammar-backend {now}",
        )
        reuse = Remedy(
            self.id,
            "operator",
            "Send the same schema text for the same shape of answer, so that its grammar is compiled once",
            Change(),
            cites,
            verify="the grammar queue stays empty after the first requests",
            rollback="none needed",
        )
        why = "masks are applied outside the graph; without one everything gets slower"
        declined = Declined("--disable-cuda-graph", why, cites)
        return Advice((backend, reuse), (declined,))


def _spoken_of(facts: Facts) -> Observation | None:
    contrast = said(facts, _ONLY_THEN)
    if contrast is not None:
        return Observation(contrast.says, contrast.cites, 0.85, 0.005)
    spoken = said(facts, _SCHEMA)
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.85, 0.06)


def _queue(facts: Facts) -> Observation | None:
    waiting = facts.number("metrics.grammar_queue")
    if waiting is None:
        return None
    says = f"{waiting:.2g} requests wait for their grammar on average"
    cites = facts.cite("metrics.grammar_queue")
    if waiting >= 0.5:
        return Observation(says, cites, 0.7, 0.01)
    # A compiled grammar still masks each step, so an empty queue says less where schemas are in use.
    return Observation(says, cites, 0.1 if said(facts, _SCHEMA) is None else 0.4, 0.9)


def _compile(facts: Facts) -> Observation | None:
    seconds = facts.number("metrics.grammar_seconds")
    if seconds is None or seconds <= 0:
        return None
    says = f"a grammar takes {seconds:.2g} s to compile"
    cites = facts.cite("metrics.grammar_seconds")
    return Observation(says, cites, 0.6, 0.02) if seconds >= 0.5 else Observation(says, cites, 0.3, 0.5)


def _timed_out(facts: Facts) -> Observation | None:
    logged = trouble(facts, "grammar_timeout")
    if logged is None:
        return None
    return Observation("a schema took too long to compile and was given up", logged.cites, 0.5, 0.005)


CAUSE = GrammarOverhead()
