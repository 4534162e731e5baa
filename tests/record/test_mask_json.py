"""Secrets of JSON are masked in place, and what is left is the same JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.record.mask_json import mask_json

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet='abcxyz 0189-_/éß"\\\n'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "name", "value", "x"]), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"api_key": "abc"}', '{"api_key": "[masked]"}'),
        ('{"api_key": 12345}', '{"api_key": "[masked]"}'),
        ('{"admin_api_keys": ["a", "b"], "n": 1}', '{"admin_api_keys": "[masked]", "n": 1}'),
        ('{"password": {"of": "me"}}', '{"password": "[masked]"}'),
        ('{"api_key": null, "x": "hf_abcdefghijklmnopqrstuvwxyz"}', '{"api_key": null, "x": "[masked]"}'),
        ('["serve", "--api-key", "abc", "--port", "1"]', '["serve", "--api-key", "[masked]", "--port", "1"]'),
        ('[{"name": "HF_TOKEN", "value": "abc"}]', '[{"name": "HF_TOKEN", "value": "[masked]"}]'),
        ('{"cmd": "serve --api-key abc"}', '{"cmd": "serve --api-key [masked]"}'),
        ('{"api\\u005fkey": "abc"}', '{"api\\u005fkey": "[masked]"}'),
        ('{"first_token": 3, "eos_token": "</s>", "token": 5}', '{"first_token": 3, "eos_token": "</s>", "token": 5}'),
    ],
)
def test_a_secret_is_replaced_and_every_other_byte_stays(before: str, after: str) -> None:
    assert mask_json(before) == after


def test_what_is_no_json_is_left_to_others() -> None:
    assert mask_json('{"api_key": "abc"') is None
    assert mask_json("[" * 100_000) is None


@given(PLAIN, st.sampled_from([None, 1, 4]))
def test_json_without_secrets_stays_as_it_is_written(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert mask_json(text) == text


@given(PLAIN, st.text(alphabet="abcdefgh0123", min_size=10, max_size=20))
def test_a_secret_goes_wherever_it_stands_and_the_rest_is_still_json(value: object, secret: str) -> None:
    text = json.dumps([value, {"deep": [{"api_key": secret + "Q"}, value]}])
    masked = mask_json(text)
    assert masked is not None
    assert secret + "Q" not in masked
    assert json.loads(masked) == [value, {"deep": [{"api_key": "[masked]"}, value]}]
    assert mask_json(masked) == masked
