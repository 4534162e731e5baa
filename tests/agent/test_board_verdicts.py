"""What a board amounts to: a fault explains the client's low load away, and nothing unexplained is healthy."""

from builders import facts_of, healthy_server, level

from ppagent.agent.board import compute_board, verdict_of


def test_a_healthy_server_is_healthy_until_it_hangs_or_the_user_contradicts() -> None:
    healthy = healthy_server() | {"bench.levels": [level(64, 2400)], "gpu.power_w": {"0": 500, "1": 505}}
    facts = facts_of(healthy)
    assert verdict_of(compute_board(facts), facts) == "healthy"
    hung = facts_of(healthy | {"log.ended_running": True})
    assert verdict_of(compute_board(hung), hung) != "healthy"
    contradicted = facts_of(healthy | {"stated.question": "2400 tok/s here, others report 4100 tok/s. Why?"})
    assert verdict_of(compute_board(contradicted), contradicted) == "not_enough_evidence"


def test_a_supported_fault_speaks_against_a_client_that_offers_too_little() -> None:
    idle = healthy_server() | {
        "decode.running_req.p95": 8,
        "decode.running_req.mean": 8,
        "decode.running_req.max": 8,
        "bench.levels": [level(4, 400), level(8, 790)],
    }
    alone = compute_board(facts_of(idle)).of("LB001")
    assert alone is not None and alone.state == "supported"
    shared = facts_of(
        idle | {"gpu.foreign_processes": [{"index": "1", "name": "python train.py", "used_memory_mib": 12740}]}
    )
    board = compute_board(shared)
    fault, client = board.of("HW003"), board.of("LB001")
    assert fault is not None and fault.state == "supported"
    assert client is not None and client.judgement.confidence < alone.judgement.confidence
    assert any("HW003" in o.says for o in client.judgement.against)
