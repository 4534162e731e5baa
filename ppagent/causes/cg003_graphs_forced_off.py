"""CG003 graphs disabled by another setting

What it is
    Nobody asked for eager decode, but another setting brings it: an attention backend (torch_native, flex_attention),
    deepep_mode normal, debug dumps. One warning line at start says so. (The prefill role of a disaggregated pair
    switches them off too, silently and rightly: it does not decode.)

Why it matters
    The launch looks right, so nobody looks there; what was requested is not what is in effect.

Signals
    A start-up line "Cuda graph is disabled because ..."; one of those settings; graphs off in the running server's
    arguments while the launch does not ask for it; `cuda graph: False` on decode lines.

What refutes it
    `cuda graph: True` on decode lines; an off switch in the launch itself (CG001); a device without CUDA.

Remedies
    Change that setting (a restart). A backend was perhaps chosen because another one crashed: check it for this card.
"""

from ppagent.causes.cause import Advice, Change, Observation, Probe, Remedy
from ppagent.causes.graphs import FORCING_BACKENDS, asked_off, effective_off, forced_off, graph_share, launch_seen
from ppagent.causes.situation import no_cuda
from ppagent.evidence.facts import Facts


class GraphsForcedOff:
    id = "CG003"
    name = "graphs disabled by another setting"
    prior = 0.05
    wants = ("trouble.graph_disabled", "args.attention_backend", "args.disable_cuda_graph", "decode.graph_true_share")

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        without = no_cuda(facts)
        if without is not None:
            return (Observation(f"{without.says}: there is no CUDA graph to lose", without.cites, 0.005, 0.5),)
        asked = asked_off(facts)
        if asked is not None:
            return (Observation(f"the launch itself asks for it ({asked.flag})", asked.cites, 0.02, 0.4),)
        if facts.arg_text("disaggregation_mode") == "prefill":
            says = "a prefill node of a disaggregated pair does not decode"
            return (Observation(says, facts.cite_args("disaggregation_mode"), 0.02, 0.4),)
        found = (_forced(facts), _unasked(facts), _used(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        if self.observe(facts):
            return ()
        return (Probe("logs.startup", "a warning at start says when a setting switches graphs off", 0),)

    def advise(self, facts: Facts) -> Advice:
        forced = forced_off(facts)
        if forced is None:
            return Advice()
        change = _change(facts)
        return Advice(
            (
                Remedy(
                    self.id,
                    "relaunch" if change != Change() else "operator",
                    f"Change the setting that switches graphs off: {forced.says}",
                    change,
                    forced.cites,
                    risks=("the setting may be there because another one failed on this card or model",),
                    verify="capture lines at start, and `cuda graph: True` on decode lines",
                    rollback="put the setting back and restart",
                ),
            )
        )


def _forced(facts: Facts) -> Observation | None:
    forced = forced_off(facts)
    if forced is None:
        return None
    return Observation(forced.says, forced.cites, 0.95, 0.03)


def _unasked(facts: Facts) -> Observation | None:
    effective = effective_off(facts)
    if effective is None or not launch_seen(facts):
        return None
    says = f"the server runs with {effective.flag}, which the launch does not ask for"
    return Observation(says, effective.cites + facts.cite("launch.command"), 0.8, 0.05)


def _used(facts: Facts) -> Observation | None:
    share = graph_share(facts)
    if share is None:
        return None
    if share.value > 0.02:
        return Observation(share.says, share.cites, 0.01, 0.8)
    return Observation(share.says, share.cites, 0.97, 0.3)


def _change(facts: Facts) -> Change:
    """What to drop: only a setting that the launch holds can be dropped."""
    for field in ("decode_attention_backend", "attention_backend"):
        if facts.text(f"launch.{field}") in FORCING_BACKENDS:
            return Change(unset=("--" + field.replace("_", "-"),))
    if facts.text("launch.deepep_mode") == "normal":
        return Change(set={"--deepep-mode": "auto"})
    return Change()


CAUSE = GraphsForcedOff()
