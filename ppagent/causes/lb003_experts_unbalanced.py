"""LB003 experts unbalanced

What it is
    With expert parallelism each rank holds some of the experts, and the tokens go to few of them: the ranks wait for
    the one with the most work.

Why it matters
    Every MoE layer lasts as long as its fullest rank. It shows as a long dispatch or combine, which looks like a slow
    network.

Signals
    A low balancedness (mean load over highest load of the ranks), or expert counts that the user measured.

What refutes it
    No expert parallelism, a dense model, or a balancedness near 1. A long dispatch alone is no sign of it: it also
    waits for a rank that is late for any other reason.

Remedies
    Expert-parallel load balancing with some redundant experts. They take memory from the KV pool.
"""

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.said import said
from ppagent.causes.sighting import trouble_words
from ppagent.causes.situation import Known, arguments_known, tensor_parallel
from ppagent.evidence.facts import Facts

_SAID = (
    r"\bexperts?\b[^.]{0,60}\b(?:imbalanc|unbalanc|unequal|skew|overload)"
    r"|\b(?:imbalanc|unbalanc|uneven|skewed)\w*[^.]{0,40}\bexperts?"
)


class ExpertsUnbalanced:
    id = "LB003"
    name = "experts unbalanced"
    prior = 0.03
    wants = (
        "metrics.eplb_balancedness",
        "trouble.expert_balancedness",
        "args.ep_size",
        "args.moe_a2a_backend",
        "model.architectures",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        spread_over = expert_ranks(facts)
        if spread_over is not None and spread_over.value < 2:
            return (Observation(spread_over.says, spread_over.cites, 0.005, 0.7),)
        found = (_balancedness(facts), _told(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        spread_over = expert_ranks(facts)
        if facts.number("metrics.eplb_balancedness") or (spread_over is not None and spread_over.value < 2):
            return ()
        if spread_over is None:
            return (Probe("http.info", "whether experts are spread over ranks is not known", 1),)
        return (Probe("http.metrics", "how evenly the experts are used is counted there", 1),)

    def advise(self, facts: Facts) -> Advice:
        cites = facts.cite("metrics.eplb_balancedness", "trouble.expert_balancedness") or facts.cite("stated.sentences")
        ranks = expert_ranks(facts)
        redundant = int(ranks.value) if ranks is not None else 8
        remedy = Remedy(
            self.id,
            "relaunch",
            f"Balance the experts and keep {redundant} of them twice",
            Change(set={"--enable-eplb": "true", "--ep-num-redundant-experts": str(redundant)}),
            cites,
            risks=("the copies take memory from the KV pool", "moving experts costs a pause each time"),
            verify="the balancedness rises towards 1 and the decode throughput with it",
            rollback="leave both flags out",
        )
        declined = Declined("--deepep-mode", "the transport waits for the fullest rank in every mode", cites)
        return Advice((remedy,), (declined,))


def expert_ranks(facts: Facts) -> Known | None:
    """Ranks that the experts are spread over; 1 without expert parallelism or for a dense model, None unknown."""
    experts = facts.first("model.num_experts", "model.n_routed_experts", "model.num_local_experts")
    if experts is None and facts.get("model.num_hidden_layers") is not None:
        return Known(1, facts.cite("model.num_hidden_layers"), "the model has no experts")
    size = facts.arg("ep_size")
    if size is not None and size.number is not None and size.number > 1:
        return Known(size.number, (size.evidence,), f"ep_size {size.number:g}")
    for field in ("enable_ep_moe", "enable_deepep_moe"):
        ranks = tensor_parallel(facts)
        if facts.arg_flag(field) and ranks is not None:
            return Known(ranks.value, facts.cite_args(field), f"{field} over {ranks.value:g} ranks")
    backend = facts.arg_text("moe_a2a_backend")
    ranks = tensor_parallel(facts)
    if backend and backend != "none" and ranks is not None:
        return Known(ranks.value, facts.cite_args("moe_a2a_backend"), f"moe_a2a_backend {backend}")
    if not arguments_known(facts):
        return None
    cites = facts.cite_args("ep_size") or (ranks.cites if ranks is not None else ())
    return Known(1, cites, "there is no expert parallelism: every rank works on every expert") if cites else None


def _balancedness(facts: Facts) -> Observation | None:
    value, cites = facts.number("metrics.eplb_balancedness"), facts.cite("metrics.eplb_balancedness")
    if not value:  # a mean over a maximum is never 0: nothing was recorded
        logged = trouble_words(facts, "expert_balancedness", "average")
        value, cites = float(logged or 0), facts.cite("trouble.expert_balancedness")
    if not value:
        return None
    says = f"the experts' ranks carry {value:.0%} of the fullest one's load on average"
    if value < 0.5:
        return Observation(says, cites, 0.85, 0.005)
    if value < 0.7:
        return Observation(says, cites, 0.7, 0.03)
    return Observation(says, cites, 0.05, 0.7) if value >= 0.85 else None


def _told(facts: Facts) -> Observation | None:
    spoken = said(facts, _SAID)
    return None if spoken is None else Observation(spoken.says, spoken.cites, 0.5, 0.02)


CAUSE = ExpertsUnbalanced()
