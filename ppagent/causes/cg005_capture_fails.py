"""CG005 capture fails or hangs

What it is
    The server stops while it captures CUDA graphs (no memory, an operation that cannot be captured), or comes up and
    hangs at the first replay because a collective across nodes was captured and does not complete on all ranks.

Why it matters
    It costs the whole load, and the tempting way out (no graphs at all) costs speed for good.

Signals
    `Capture cuda graph failed`; a capture that begins and never ends; decode lines that simply end when more than one
    request runs, on several nodes, with no error.

What refutes it
    A capture that ended and decode lines that go on; no capture at all (CG001, CG003).

Remedies
    As the log says: fewer or smaller sizes, a little less mem_fraction_static, another attention backend. For a hang
    on replay across nodes: keep TP inside a node. Switching graphs off proves the point but is no cure.
"""

import re

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.graphs import asked_off, graph_share
from ppagent.causes.sighting import trouble, trouble_words
from ppagent.causes.situation import graph_ceiling
from ppagent.evidence.facts import Facts

_MEMORY = re.compile(r"memory|\bOOM\b|CUBLAS_STATUS_ALLOC", re.IGNORECASE)
_CAPTURING = re.compile(r"graphs?\b|capture_one_batch_size|register_graph_buffers")
"""Functions that run only while graphs are captured."""
_CUSTOM_REDUCE = re.compile(r"custom_all_?reduce", re.IGNORECASE)
_PEER = re.compile(r"Connection (?:closed|reset) by peer|\bgloo\b|ncclRemoteError|Broken pipe")
"""What a rank notices when another one ended first: its own capture is not what failed."""


class CaptureFails:
    id = "CG005"
    name = "capture fails or hangs"
    prior = 0.03
    wants = (
        "trouble.capture_failed",
        "trouble.raised_at_start",
        "start.graph_begun",
        "start.graph_captured",
        "start.ready",
        "decode.lines",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        at_start = (_failed(facts), _raised(facts), _stuck(facts))
        found = (*at_start, _fine(facts), _never(facts), _hang(facts), _captured_over_nodes(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.startup", "capture lines stand in the start-up log", 0),)

    def advise(self, facts: Facts) -> Advice:
        if _hang(facts) is not None:
            return _after_a_hang(facts)
        elsewhere = _not_for_memory(facts)
        if elsewhere is not None:
            return elsewhere
        ceiling = graph_ceiling(facts)
        smaller = max(1, int(ceiling.value // 2)) if ceiling is not None else 8
        cites = facts.cite("trouble.capture_failed", "start.graph_begun", "start.graph_captured")
        eager = Declined("--disable-cuda-graph", "it hides the failure and pays for it on every step", cites)
        return Advice(
            (
                Remedy(
                    self.id,
                    "relaunch",
                    f"Capture fewer sizes, up to batch {smaller}",
                    Change(set={"--cuda-graph-max-bs-decode": str(smaller)}),
                    cites,
                    risks=("larger batches run eagerly",),
                    verify="the capture line ends and the server comes up",
                    rollback="drop the flag",
                ),
            ),
            (eager,),
        )


def _message(facts: Facts) -> str:
    return trouble_words(facts, "capture_failed", "message")


def _head(message: str) -> str:
    """Its first words; of a memory error, without what it goes on to count on the card."""
    return message.partition(". GPU ")[0][:120].rstrip(". ")


def _lost_a_peer(facts: Facts) -> bool:
    return _PEER.search(_message(facts)) is not None


def _not_for_memory(facts: Facts) -> Advice | None:
    """What to do about a capture that failed of something else than memory: fewer sizes change nothing there."""
    message, frames = _message(facts), _frames(facts)
    cites = facts.cite("trouble.capture_failed", "trouble.raised_at_start")
    unsaid = not message and _CAPTURING.search(frames) is not None and trouble(facts, "cuda_oom") is None
    if not unsaid and (not message or _MEMORY.search(message)):
        return None
    eager = Declined("--disable-cuda-graph", "it hides the failure and pays for it on every step", cites)
    if _CUSTOM_REDUCE.search(message) or "register_graph_buffers" in frames:
        return Advice((_without_custom_reduce(cites),), (eager,))
    title = f"Find what cannot be captured: the traceback above `{_head(message)}` ends in it"
    if unsaid:
        title = "Look at the last line of the traceback: it says whether memory ended or something cannot be captured"
    if _lost_a_peer(facts):
        title = "Look at the other ranks' and nodes' logs: one of them ended first, and this capture lost its peer"
    look = Remedy(
        "CG005",
        "operator",
        title,
        Change(),
        cites,
        verify="the capture line ends and the server comes up",
        rollback="none: it does not start now",
    )
    return Advice((look,), (eager,))


def _without_custom_reduce(cites: tuple[str, ...]) -> Remedy:
    return Remedy(
        "CG005",
        "relaunch",
        "Capture without SGLang's own all-reduce, whose registration of graph buffers failed",
        Change(set={"--disable-custom-all-reduce": "true"}),
        cites,
        risks=("NCCL's all-reduce is slower for small batches",),
        verify="the capture line ends and the server comes up",
        rollback="drop the flag",
    )


def _after_a_hang(facts: Facts) -> Advice:
    """Smaller sizes cure no captured collective: one request a graph gets the server through, another layout cures."""
    cites = facts.cite("log.ended_running", "start.graph_captured")
    through = Remedy(
        "CG005",
        "relaunch",
        "Run only single requests from graphs, as a way through until the layout is changed",
        Change(set={"--cuda-graph-max-bs-decode": "1"}),
        cites,
        risks=("batches above 1 run eagerly and are slower",),
        verify="the same load keeps printing decode lines",
        rollback="drop the flag",
    )
    layout = Remedy(
        "CG005",
        "operator",
        "Keep each tensor-parallel group inside one node, so that no captured graph holds a collective between nodes",
        Change(),
        cites,
        risks=("another parallel shape needs a full reload and its own measurement",),
        verify="graphs of all sizes run under the same load",
        rollback="the layout you run now",
    )
    return Advice((through, layout))


def _failed(facts: Facts) -> Observation | None:
    if not facts.number("trouble.capture_failed"):
        return None
    message = _message(facts)
    says = "graph capture failed" + (f": {_head(message)}" if message else "")
    if _lost_a_peer(facts):
        return Observation(says, facts.cite("trouble.capture_failed"), 0.5, 0.1)
    return Observation(says, facts.cite("trouble.capture_failed"), 0.98, 0.003)


def _raised(facts: Facts) -> Observation | None:
    """By a frame of the traceback, for a log that does not hold the line which says it in words."""
    if trouble(facts, "capture_failed") is not None or not _CAPTURING.search(_frames(facts)):
        return None
    says = "the exception was raised while graphs were captured"
    return Observation(says, facts.cite("trouble.raised_at_start"), 0.9, 0.005)


def _frames(facts: Facts) -> str:
    return "; ".join(trouble_words(facts, "raised_at_start", field) for field in ("frame", "call"))


def _stuck(facts: Facts) -> Observation | None:
    if not facts.flag("start.graph_begun") or facts.flag("start.graph_captured") or facts.flag("start.ready"):
        return None
    return Observation("a capture began and no line says that it ended", facts.cite("start.graph_begun"), 0.8, 0.03)


def _fine(facts: Facts) -> Observation | None:
    share = graph_share(facts)
    if share is not None and share.value > 0.5 and not _ended_running(facts):
        return Observation(share.says + ", so graphs were captured and replay", share.cites, 0.01, 0.6)
    return None


def _never(facts: Facts) -> Observation | None:
    off = asked_off(facts)
    if off is not None:
        return Observation(f"nothing is captured with {off.flag}", off.cites, 0.02, 0.3)
    if facts.flag("start.ready") and facts.number("decode.lines") and not _ended_running(facts):
        return Observation("the server came up and decodes", facts.cite("start.ready", "decode.lines"), 0.03, 0.6)
    return None


def _ended_running(facts: Facts) -> bool:
    """Whether the decode lines end while requests run, as they do when a replay hangs."""
    return facts.flag("log.ended_running") is True


def _hang(facts: Facts) -> Observation | None:
    """Decoding from graphs that ends without a word; an error or a time-out would name another cause."""
    share = graph_share(facts)
    told = any(facts.number(f"trouble.{kind}") for kind in ("nccl_error", "scheduler_exception", "cuda_oom", "xid"))
    if not _ended_running(facts) or told or share is None or share.value < 0.5:
        return None
    says = "decode lines end while requests run, with steps from graphs up to the last and no error"
    return Observation(says, facts.cite("log.ended_running") + share.cites, 0.9, 0.03)


def _captured_over_nodes(facts: Facts) -> Observation | None:
    """A collective between nodes inside a captured graph may never complete on all ranks (sglang#24574)."""
    nodes, ring = facts.arg_number("nnodes") or 1, facts.arg_number("pp_size") or 1
    if nodes <= ring or not _ended_running(facts) or not facts.flag("start.graph_captured"):
        return None
    cites = facts.cite("start.graph_captured") + facts.cite_args("nnodes")
    return Observation(f"graphs were captured with a TP group over {nodes:g} nodes", cites, 0.8, 0.2)


CAUSE = CaptureFails()
