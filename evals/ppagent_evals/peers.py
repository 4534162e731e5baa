"""Peers that read such input at all: what their words mean in ours, and their last run beside our table.

`evals/peers/run_peers.py` runs them, each in an environment of its own, and writes `evals/peers/results.json`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from ppagent.errors import UserError
from ppagent_evals.answer import read_answer
from ppagent_evals.runner import CaseResult, run_case
from ppagent_evals.scorer import Document

RESULTS = Path("evals/peers/results.json")
SECONDS = 60.0

HEALTHY_CAUSES = frozenset({"LB001", "PP002", "PR001", "ME001"})
"""Causes that leave the server healthy where they are all there is."""

MEANS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "inferguard": {
        "model_launch_bound": ("LA001", "LA002", "LA003", "LA004"),
        "network_bound": ("IC005", "IC001", "IC004", "IC006"),
        "kv_bound": ("KV001",),
        "queue_bound": ("KV002", "PP003", "KV005", "LB002"),
        "prefill_bound": ("PR001", "PP005", "PP006"),
        "host_bound": ("CP001", "CP002", "CP003", "CP004"),
        "oom_hbm_exhaustion": ("LA003", "SP003", "KV001"),
        "cuda_error": ("HW004", "IC002", "CG005"),
        "nccl_error": ("IC002", "HW004"),
        "rdma_inactive": ("IC005", "PD001"),
        "model_config_mismatch": ("LA002", "LA001"),
    },
    "vllm-doctor": {
        "queue_pressure": ("KV002", "PP003", "KV005", "SP002", "LB002"),
        "queue_latency": ("KV002", "PP003", "KV005", "SP002", "LB002"),
        "kv_cache_pressure": ("KV001",),
        "preemption_pressure": ("KV001",),
        "prefix_cache_efficiency": ("KV004",),
        "low_throughput": ("LB001",),
        "ttft_bottleneck": ("PR001", "PP006"),
        "replica_imbalance": ("LB002",),
    },
}
"""What each finding stands for in our list. Their classes are wider than our causes, so the one that the answer has is
taken where there is one, and the first otherwise: never to the peer's loss.

Not in the table since they name no cause: inferguard's decode_bound, server_crash, endpoint_healthcheck_failure,
client_timeout, tokenizer_or_parser_failure, container_image_incompatibility, slurm_allocation_failure;
vllm-doctor's tpot_bottleneck and error_rate."""


@dataclass(frozen=True)
class Peer:
    """One peer's last run. `accepts` says in words on what it was run; `cases` are its findings by incident."""

    name: str
    version: str
    date: str
    accepts: str
    cases: Mapping[str, tuple[str, ...]]
    silent: frozenset[str]
    """Incidents in which it found nothing because nothing of what it reads was there."""


def read_peers(path: Path = RESULTS) -> tuple[Peer, ...]:
    """The peers' last run; none where it was never run. Raises UserError on a file of another form."""
    if not path.is_file():
        return ()
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_peer(document["date"], entry) for entry in document["peers"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} holds no run of the peers.", "Write it with evals/peers/run_peers.py.") from error


def _peer(date: str, entry: Mapping[str, Any]) -> Peer:
    cases = {case["id"]: tuple(case["findings"]) for case in entry["cases"]}
    silent = frozenset(case["id"] for case in entry["cases"] if case["no_data"])
    return Peer(entry["name"], entry["version"], date, entry["accepts"], cases, silent)


def peers_of(recordings: Sequence[Path]) -> dict[str, list[CaseResult]]:
    """The peers' last run by name, on those of `recordings` that they were run on; none that was run on none."""
    scored = {peer.name: score_peer(peer, recordings) for peer in read_peers()}
    return {name: rows for name, rows in scored.items() if rows}


def peers_line() -> str:
    """When which peers were run, and on how many incidents."""
    ran = "; ".join(f"{peer.name} {peer.version} on {len(peer.cases)}" for peer in read_peers())
    if not ran:
        return ""
    dates = ", ".join(sorted({peer.date for peer in read_peers()}))
    text = f"Peers, run on {dates} on the incidents that hold what they read: {ran}. They propose no launch flags."
    return fill(text, 100, break_on_hyphens=False)


def score_peer(peer: Peer, recordings: Sequence[Path]) -> list[CaseResult]:
    """The peer's findings, scored like a brain's, on those of `recordings` that it was run on."""
    accepted = [recording for recording in recordings if recording.name in peer.cases]
    return [run_case(recording, partial(said, peer), SECONDS) for recording in accepted]


def said(peer: Peer, recording: Path) -> Document:
    """A peer's findings as the document of a diagnosis. It proposes no change and cites nothing that can be checked."""
    answer = read_answer(recording)
    wanted = {*answer.causes, *answer.also_accepted}
    findings = peer.cases[recording.name]
    causes = sorted({_best(MEANS[peer.name][f], wanted) for f in findings if f in MEANS[peer.name]})
    return {
        "verdict": _verdict(causes, findings, nothing_read=recording.name in peer.silent),
        "hypotheses": [
            {"cause": cause, "state": "supported", "confidence": 1.0, "because": [], "against": []} for cause in causes
        ],
        "evidence": [],
        "proposals": [],
        "next_probes": [],
        "cost": {"tool_calls": {}},
    }


def _best(causes: tuple[str, ...], wanted: set[str]) -> str:
    return next((cause for cause in causes if cause in wanted), causes[0])


def _verdict(causes: Sequence[str], findings: Sequence[str], *, nothing_read: bool) -> str:
    if not causes:
        return "not_enough_evidence" if nothing_read or findings else "healthy"
    return "healthy" if set(causes) <= HEALTHY_CAUSES else "diagnosed"
