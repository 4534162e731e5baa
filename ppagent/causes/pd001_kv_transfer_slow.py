"""PD001 KV transfer slow

What it is
    With prefill and decode on separate servers, the KV of every prompt is sent across. The transport was built or
    started without RDMA and fell back to TCP.

Why it matters
    Each request waits for its KV before its first decode step: seconds instead of milliseconds were measured, and the
    time to first token shows it while both servers look idle.

Signals
    Set-up of a transfer above half a second; UCX with TCP and no RDMA transport; a transfer engine told to use TCP;
    transfers that time out.

What refutes it
    No disaggregation. A set-up within a few milliseconds.

Remedies
    A UCX build with RDMA (`ucx_info -d` lists an adapter), adapters named with --disaggregation-ib-device.
"""

import re

from ppagent.causes.cause import Advice, Change, Declined, Observation, Probe, Remedy
from ppagent.causes.sighting import env, switched_on, trouble, trouble_words
from ppagent.causes.situation import arguments_known
from ppagent.evidence.facts import Facts

SLOW_SETUP_MS = 500.0
QUICK_SETUP_MS = 20.0
_RDMA = re.compile(r"\b(?:rc|dc|ud|ib|rdma|all|efa|srd)", re.IGNORECASE)


class KvTransferSlow:
    id = "PD001"
    name = "KV transfer slow"
    prior = 0.06
    wants = (
        "args.disaggregation_mode",
        "args.disaggregation_ib_device",
        "trouble.kv_transfer_setup.time",
        "trouble.kv_transfer_failed",
        "env.UCX_TLS",
    )

    def observe(self, facts: Facts) -> tuple[Observation, ...]:
        role = _role(facts)
        if role is None:
            return ()
        if not role[0]:
            return (Observation("prefill and decode are not separated", role[1], 0.001, 0.6),)
        found = (_setup(facts), _ucx(facts), _told(facts), _failed(facts), _no_device(facts))
        return tuple(o for o in found if o is not None)

    def probes(self, facts: Facts) -> tuple[Probe, ...]:
        role = _role(facts)
        if role is None:
            return (Probe("server.launch", "whether prefill and decode are separated is not known", 0),)
        if not role[0] or _setup(facts) is not None:
            return ()
        return (Probe("logs.trouble", "the set-up time of a transfer tells RDMA from TCP", 0),)

    def advise(self, facts: Facts) -> Advice:
        cites = tuple(dict.fromkeys(c for o in self.observe(facts) if o.supports for c in o.cites))
        rebuild = Remedy(
            self.id,
            "operator",
            "Give the transfer RDMA: a UCX (or Mooncake) build with it, the adapters visible in the container, "
            "and their names in --disaggregation-ib-device",
            Change(),
            cites,
            risks=("both sides must be restarted with the same transport",),
            verify="`ucx_info -d` lists an RDMA device, and the set-up of a transfer takes milliseconds",
            rollback="the transport as it is now",
        )
        declined = Declined(
            "--chunked-prefill-size", "prefill is done when the wait begins: the wait is the transfer", cites
        )
        return Advice((rebuild,), (declined,))


def _role(facts: Facts) -> tuple[str, tuple[str, ...]] | None:
    """prefill or decode, empty where the server does both; None where it is not known."""
    fact = facts.arg("disaggregation_mode")
    if fact is not None:
        return ("" if str(fact.value) == "null" else str(fact.value)), (fact.evidence,)
    cites = facts.cite("launch.command", "args.model_path", "args.tp_size")[:1]
    return ("", cites) if arguments_known(facts) and cites else None


def _setup(facts: Facts) -> Observation | None:
    """`Time to init xfer: 1800.31 ms`."""
    times = [float(t) for t in re.findall(r"[\d.]+\d", trouble_words(facts, "kv_transfer_setup", "time"))]
    if not times:
        return None
    cites, worst_ms = facts.cite("trouble.kv_transfer_setup.time"), max(times)
    says = f"setting up a transfer takes {worst_ms:g} ms"
    if worst_ms >= SLOW_SETUP_MS:
        return Observation(says, cites, 0.8, 0.01)
    if worst_ms <= QUICK_SETUP_MS:
        return Observation(says, cites, 0.05, 0.7)
    return None


def _ucx(facts: Facts) -> Observation | None:
    transports = env(facts, "UCX_TLS")
    if transports is not None and "tcp" in transports and not _RDMA.search(transports.replace("cuda", "")):
        return Observation(f"UCX_TLS={transports} names TCP and no RDMA", facts.cite("env.UCX_TLS"), 0.7, 0.01)
    said = trouble_words(facts, "kv_transfer_setup", "ucx")
    if "tcp" in said and not _RDMA.search(said.replace("cuda", "")):
        return Observation("UCX's log names TCP and no RDMA", facts.cite("trouble.kv_transfer_setup.ucx"), 0.7, 0.02)
    return None


def _told(facts: Facts) -> Observation | None:
    if switched_on(facts, "MC_FORCE_TCP"):
        return Observation("the transfer engine is told to use TCP", facts.cite("env.MC_FORCE_TCP"), 0.7, 0.006)
    if (env(facts, "MOONCAKE_PROTOCOL") or "").lower() == "tcp":
        return Observation("MOONCAKE_PROTOCOL is tcp", facts.cite("env.MOONCAKE_PROTOCOL"), 0.6, 0.05)
    return None


def _failed(facts: Facts) -> Observation | None:
    seen = trouble(facts, "kv_transfer_failed")
    return None if seen is None else Observation(f"{seen.value:g} transfers failed or timed out", seen.cites, 0.4, 0.1)


def _no_device(facts: Facts) -> Observation | None:
    """SGLang looks for adapters itself where none is named."""
    seen = trouble(facts, "kv_transfer_setup")
    if seen is None or facts.arg("disaggregation_ib_device") is not None or _setup(facts) is not None:
        return None
    return Observation("no RDMA adapter is named for the transfer", seen.cites, 0.6, 0.4)


CAUSE = KvTransferSlow()
