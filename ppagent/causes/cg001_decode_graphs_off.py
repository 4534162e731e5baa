"""CG001 decode graphs switched off

What it is
    A launch flag switches CUDA graphs off, so that every decode step launches each kernel from the host.

Why it matters
    Launch time is paid on every layer of every step. It is most of the step for one or a few requests on fast cards,
    and hides behind GPU work as the batch grows: worth 1.2-5 times at batch 1, a few percent at large batches.

Signals
    `disable_cuda_graph=True` (or a disabled decode backend, 0.5.14 and later) in the arguments, asked for in the
    launch; no capture lines; `cuda graph: False` on decode lines; in a trace, decode forwards of many single launches.

What refutes it
    Decode lines with `cuda graph: True`; a finished capture; a device without CUDA. `cuda graph: False` on prefill
    lines is normal, under pipeline parallelism always so. Where another setting switched graphs off, it is CG003.

Remedies
    Drop the flag (a restart). Capture takes memory and time, and can fail where kernels do not support it: that may
    be why the flag is there, so ask. Answers do not change. Largest size: the largest micro-batch wanted.
"""

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.graphs import asked_off, effective_off, forced_off, graph_share, launch_seen, switched_off
from ppagent.causes.situation import no_cuda
from ppagent.causes.traced import traced_graph_share
from ppagent.evidence.facts import Facts


class DecodeGraphsOff:
    id = "CG001"
    name = "decode graphs switched off"
    prior = 0.1
    wants = (
        "launch.command",
        "args.disable_cuda_graph",
        "decode.graph_true_share",
        "start.graph_captured",
        "metrics.graph_share",
        "profile.graph_step_share",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        without = no_cuda(facts)
        if without is not None:
            return (Observation(f"{without.says}: there is no CUDA graph to miss", without.cites, 0.005, 0.5),)
        found = (_switch(facts), _used(facts), _traced(facts), _captured(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.decode", "decode lines say whether steps run from a graph", 0),)

    def advise(self, facts: Facts) -> Advice:
        switch = switched_off(facts)
        if switch is None:
            return Advice()
        free = _free_gib(facts)
        memory = f"; {free:.1f} GiB are free on the fullest card" if free is not None else ""
        return Advice(
            (
                Remedy(
                    self.id,
                    "relaunch",
                    f"Run decode from CUDA graphs: drop {switch.flag}",
                    Change(unset=(switch.flag,)),
                    switch.cites,
                    risks=(
                        "capture may fail or hang on kernels that do not support it, which may be why it was "
                        "switched off: ask whoever set it",
                        f"capture takes memory on every card{memory}",
                    ),
                    verify="capture lines at start, and `cuda graph: True` on decode lines",
                    rollback=f"add {switch.flag} again and restart",
                ),
            )
        )


def _switch(facts: Facts) -> Observation | None:
    asked, effective = asked_off(facts), effective_off(facts)
    if asked is not None:
        cites = asked.cites + (effective.cites if effective is not None else ())
        return Observation(f"{asked.flag} is in the launch", cites, 0.97, 0.01)
    if effective is None:
        known = facts.arg("disable_cuda_graph")
        if known is not None and known.value is False:
            return Observation("disable_cuda_graph is not set", (known.evidence,), 0.03, 0.8)
        if launch_seen(facts):
            return Observation("the launch switches no graph off", facts.cite("launch.command"), 0.03, 0.8)
        return None
    forced = forced_off(facts)
    if forced is not None:
        return Observation(forced.says, forced.cites, 0.05, 0.6)
    if launch_seen(facts):
        says = "graphs are off though the launch does not ask for it, so another setting did it"
        return Observation(says, facts.cite("launch.command") + effective.cites, 0.05, 0.6)
    return Observation(f"the server runs with {effective.flag}", effective.cites, 0.9, 0.03)


def _used(facts: Facts) -> Observation | None:
    share = graph_share(facts)
    if share is None:
        return None
    if share.value > 0.02:
        return Observation(share.says, share.cites, 0.01, 0.8)
    return Observation(share.says, share.cites, 0.97, 0.25)


def _traced(facts: Facts) -> Observation | None:
    """What a trace shows beside the log: it is of some forwards only, but of what the host really did."""
    seen, share = traced_graph_share(facts), graph_share(facts)
    if seen is None or (share is not None and share.cites == seen.cites):
        return None
    if seen.value > 0.02:
        return Observation(seen.says, seen.cites, 0.03, 0.8)
    return Observation(seen.says, seen.cites, 0.95, 0.3)


def _captured(facts: Facts) -> Observation | None:
    captured = facts.flag("start.graph_captured")
    if captured is None or not facts.flag("start.ready"):
        return None
    cites = facts.cite("start.graph_captured")
    if captured:
        return Observation("decode graphs were captured at start", cites, 0.01, 0.8)
    return Observation("the server came up without capturing decode graphs", cites, 0.95, 0.3)


def _free_gib(facts: Facts) -> float | None:
    free = facts.numbers("start.avail_after_pool_gib")
    return min(free.values()) if free else facts.number("start.available_gib")


CAUSE = DecodeGraphsOff()
