from typing import Any

import pytest
from model_samples import QUANTISED_EXPERTS

from ppagent.model.quantisation import Part, dtype_bytes, grouped_bytes, read_quantisation

MODELOPT = {
    "quant_method": "modelopt",
    "quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head", "*self_attn*"]},
}


@pytest.mark.parametrize(
    ("config", "routed", "attention"),
    [
        (None, 2.0, 2.0),
        ({"quant_method": "fp8"}, 1.0, 1.0),
        (QUANTISED_EXPERTS, 0.5625, 2.0),
        (MODELOPT, 0.5625, 2.0),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, 0.5 + 2.5 / 128, 0.5 + 2.5 / 128),
        ({"quant_method": "awq", "modules_to_not_convert": ["self_attn"]}, 0.5 + 2.5 / 128, 2.0),
        ({"quant_method": "mxfp4"}, 0.53125, 2.0),
        ({"quant_method": "w8a8_int8"}, 1.0, 1.0),
    ],
)
def test_each_part_takes_the_bytes_its_method_gives_it(
    config: dict[str, Any] | None, routed: float, attention: float
) -> None:
    found = read_quantisation(config, "bfloat16")
    assert found.known
    assert found.bytes_of[Part.ROUTED] == pytest.approx(routed)
    assert found.bytes_of[Part.ATTENTION] == pytest.approx(attention)
    assert found.bytes_of[Part.LM_HEAD] == found.bytes_of[Part.EMBEDDING] == found.bytes_of[Part.ROUTER] == 2.0


def test_an_ignore_list_can_keep_shared_experts_apart_from_routed_ones() -> None:
    found = read_quantisation(QUANTISED_EXPERTS, "bfloat16")
    assert (found.bytes_of[Part.SHARED], found.bytes_of[Part.DENSE_MLP]) == (2.0, 2.0)
    assert found.name == "int4 g32"


def test_an_unknown_method_is_counted_in_the_stated_dtype_and_says_so() -> None:
    found = read_quantisation({"quant_method": "sorcery"}, "float16")
    assert not found.known
    assert "sorcery" in found.name
    assert found.bytes_of[Part.ROUTED] == 2.0


def test_groups_of_128_are_lighter_than_groups_of_32() -> None:
    assert grouped_bytes(4, 128) == pytest.approx(0.515625)
    assert grouped_bytes(4, 32) == pytest.approx(0.5625)
    assert grouped_bytes(4, 128, zero_point=True) > grouped_bytes(4, 128)


@pytest.mark.parametrize(("dtype", "width"), [("torch.bfloat16", 2), ("float32", 4), (None, 2), ("unheard-of", 2)])
def test_dtypes_have_widths(dtype: str | None, width: float) -> None:
    assert dtype_bytes(dtype) == width


@pytest.mark.parametrize("pattern", ["re:(a+)+$", "re:(.*)*" + "x" * 40, "re:[", "re:" + ".*" * 40 + "x", "re:(?P<"])
def test_an_expression_of_a_config_can_neither_hang_nor_fail(pattern: str) -> None:
    config = {"quant_method": "fp8", "ignored_layers": [pattern]}
    assert read_quantisation(config, "bfloat16").bytes_of[Part.ATTENTION] == 1.0


def test_odd_numbers_of_bits_and_groups_are_taken_at_their_defaults() -> None:
    odd = {"quant_method": "awq", "bits": "four", "group_size": 10**400}
    assert read_quantisation(odd, "bfloat16") == read_quantisation({"quant_method": "awq"}, "bfloat16")
    packed = {"quant_method": "compressed-tensors", "config_groups": ["x"]}
    assert not read_quantisation(packed, "bfloat16").known
