"""PD001: KV that travels over TCP."""

import pytest
from builders import facts_of, judged

from ppagent.causes.catalog import cause_of
from ppagent.evidence.evidence import FactValue

PD001 = cause_of("PD001")
DECODE: dict[str, FactValue] = {"args.disaggregation_mode": "decode", "args.disaggregation_transfer_backend": "nixl"}


def test_a_set_up_of_seconds_means_no_rdma() -> None:
    values = DECODE | {"trouble.kv_transfer_setup": 3, "trouble.kv_transfer_setup.time": ["1800.31", "1795.02"]}
    judgement = judged(PD001, values)
    assert judgement.state == "supported" and "1800.31 ms" in judgement.because[0].says
    assert PD001.advise(facts_of(values)).remedies[0].kind == "operator"


def test_a_set_up_within_a_millisecond_refutes_it() -> None:
    assert judged(PD001, DECODE | {"trouble.kv_transfer_setup.time": "0.16"}).state == "refuted"


@pytest.mark.parametrize(("transports", "supported"), [("cuda_ipc,cuda_copy,tcp", True), ("cuda_ipc,tcp,rc", False)])
def test_tcp_without_rdma_among_ucx_s_transports_is_told(transports: str, supported: bool) -> None:
    assert (judged(PD001, DECODE | {"env.UCX_TLS": transports}).state == "supported") is supported


def test_one_server_transfers_nothing() -> None:
    assert judged(PD001, {"args.disaggregation_mode": "null", "trouble.kv_transfer_failed": 2}).state == "refuted"
    assert judged(PD001, {"launch.command": "sglang serve m", "launch.tp_size": 2}).state == "refuted"


def test_failed_transfers_alone_leave_it_undecided() -> None:
    judgement = judged(PD001, DECODE | {"trouble.kv_transfer_failed": 2})
    assert judgement.state == "cannot_tell" and judgement.probes[0].tool == "logs.trouble"
    assert judged(PD001, {}).probes[0].tool == "server.launch"
