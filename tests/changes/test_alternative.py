"""What a single user is told: no setting of the pipeline is faster than the bytes of a token."""

import pytest

from ppagent.causes.cause import Declined
from ppagent.changes.alternative import LEVER, single_request
from ppagent.evidence.evidence import FactValue
from tests.causes.builders import facts_of, level
from tests.model.model_samples import KIMI_TEXT

SEED: dict[str, FactValue] = {
    "args.pp_size": 8,
    "args.tp_size": 1,
    "gpu.names": {str(card): "NVIDIA RTX PRO 6000 Blackwell Workstation Edition" for card in range(8)},
    "gpu.nvlink": False,
    "bench.levels": [level(1, 24.7), level(8, 95.6)],
    **{f"model.{name}": value for name, value in KIMI_TEXT.items()},
}


def told(*supported: str, **changed: FactValue) -> tuple[Declined, ...]:
    values = {**SEED, **{name.replace("__", "."): value for name, value in changed.items()}}
    return single_request(supported, facts_of({name: value for name, value in values.items() if value is not None}))


def test_the_seed_is_told_what_no_pipeline_setting_passes_and_what_eight_ranks_would_do() -> None:
    (alternative,) = told("PP001", "CG001")
    assert alternative.lever == LEVER
    assert "reads 33 GB, 18.4 ms" in alternative.why
    assert "none passes 54 tok/s, 24.7 now. TP8 on this box would do about 90-101 tok/s at C=1" in alternative.why
    assert set(alternative.cites) == {"args", "gpu", "model"}


@pytest.mark.parametrize(
    "changed",
    [
        {"bench__levels": [level(1, 60.0)]},
        {"gpu__nvlink": True},
        {"gpu__nvlink": None, "gpu__names": {}},
        {"args__nnodes": 2},
        {"args__pp_size": 7},
    ],
)
def test_nothing_is_told_where_it_cannot_be_known(changed: dict[str, FactValue]) -> None:
    assert told("PP001", **changed) == ()


def test_nobody_who_did_not_ask_is_told() -> None:
    assert told("KV001") == ()
