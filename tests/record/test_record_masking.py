"""Each file of a recording is masked as what it is."""

import pytest

from ppagent.record.masking import masked
from tests.record.record_fakes import INCIDENTS


@pytest.mark.parametrize(
    ("place", "text", "after"),
    [
        ("hosts/a/launch.txt", "serve m --api-key abc --port 1\n", "serve m --api-key [masked] --port 1\n"),
        ("hosts/a/server_info.json", '{"api_key":7}', '{"api_key":"[masked]"}'),
        ("hosts/a/server_info.json", 'broken {"api_key": "abc"', 'broken {"api_key": "[masked]"'),
        ("bench.jsonl", '{"api_key": "a"}\nodd\n', '{"api_key": "[masked]"}\nodd\n'),
        ("hosts/a/source/sglang/srt/x.py", "api_key: A[\n", "api_key: A[\n"),
        ("hosts/a/metrics/1.prom", 'm{model_name="hf_abcdefghijklmnopqrstuvwxyz"} 1\n', 'm{model_name="[masked]"} 1\n'),
    ],
)
def test_by_its_place(place: str, text: str, after: str) -> None:
    assert masked(place, text) == after


@pytest.mark.parametrize("name", ["kimi-k26-pp8", "la004-renamed-flag", "pd001-transfer-over-tcp"])
def test_incidents_that_hold_no_secret_are_not_touched(name: str) -> None:
    for path in (INCIDENTS / name).rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", errors="surrogateescape")
            assert masked(path.relative_to(INCIDENTS / name).as_posix(), text) == text
