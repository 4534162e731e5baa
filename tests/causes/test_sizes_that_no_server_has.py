"""What somebody wrote down may be no server at all: no cause may fail or fill the memory over it."""

import pytest

from ppagent.agent.board import compute_board
from ppagent.causes.situation import slots, stages, tensor_parallel
from ppagent.causes.split import layer_split
from ppagent.changes.plan import make_plan
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of

SERVER: dict[str, FactValue] = {
    "args.pp_size": 8,
    "args.tp_size": 1,
    "args.pp_async_batch_depth": 0,
    "model.num_hidden_layers": 61,
    "model.hidden_size": 7168,
    "model.vocab_size": 163840,
    "env.SGLANG_PP_LAYER_PARTITION": "7,7,7,8,8,8,8,8",
    "engine.version": "0.5.11",
    "bench.levels": [{"concurrency": c, "output_throughput": x} for c, x in ((1, 24.7), (4, 68.3), (8, 95.6))],
    "decode.running_req.p95": 3,
    "gpu.names": {"0": "NVIDIA RTX PRO 6000 Blackwell"},
}
NO_SIZE = (0, -5, 10**9, 1e17, 0.3)


@pytest.mark.parametrize("odd", NO_SIZE)
@pytest.mark.parametrize("name", [name for name in SERVER if name.startswith(("args.", "model."))])
def test_a_size_that_no_server_starts_with_is_taken_for_unknown(name: str, odd: float) -> None:
    facts = facts_of({**SERVER, name: odd})
    board = compute_board(facts)
    make_plan([hypothesis.judgement for hypothesis in board.supported], facts)

    known = {"args.pp_size": stages(facts), "args.tp_size": tensor_parallel(facts)}
    assert known.get(name) is None
    ring = slots(facts)
    assert ring is None or ring.value == 8 or name == "args.pp_async_batch_depth"


@pytest.mark.parametrize("partition", ["", "x", "0,0,0,0,0,0,0,0", "-1,9,9,9,9,9,9,8", "61", "9" * 5000, "1e9" * 8])
def test_a_partition_that_no_server_starts_with_is_passed_over(partition: str) -> None:
    split = layer_split(facts_of({**SERVER, "env.SGLANG_PP_LAYER_PARTITION": partition}))
    assert split is not None and (split.layers, split.origin) == ((7, 7, 7, 8, 8, 8, 8, 8), "default")


@pytest.mark.parametrize("layers", NO_SIZE)
def test_a_number_of_layers_that_no_model_has_gives_no_split(layers: float) -> None:
    known = {**SERVER, "model.num_hidden_layers": layers}
    del known["env.SGLANG_PP_LAYER_PARTITION"]
    assert layer_split(facts_of(known)) is None
