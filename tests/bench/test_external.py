import json
import os
import sys
from pathlib import Path

import pytest

from ppagent.bench import external
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.external import External, find_external, run_external
from ppagent.bench.prompts import Span
from ppagent.bench.session import PromptSource, run_session
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError, UserError
from tests.bench.fakes import FakeServer

SHAPE = Shape(concurrency=4, requests=24, seconds=120, input_tokens=Span(16, 16), output_tokens=Span(40, 40))
PYTHON, TOKENIZER = os.environ.get("PPAGENT_SGLANG_PYTHON", ""), os.environ.get("PPAGENT_SGLANG_TOKENIZER", "")

FAKE = """#!{python}
import json, os, sys
words = sys.argv[1:]
row = {{"argv": words, "key": os.environ.get("OPENAI_API_KEY"), "server_info": {{"api_key": "secret"}},
       "output_throughput": 5.0}}
if "--tokenizer" in words and words[words.index("--tokenizer") + 1] == "bad":
    sys.exit("no such tokenizer")
open(words[words.index("--output-file") + 1], "a").write(json.dumps(row) + "\\n")
"""


@pytest.fixture
def fake_python(tmp_path: Path) -> str:
    """Stands in for an interpreter with SGLang: writes down how it was called."""
    path = tmp_path / "python"
    path.write_text(FAKE.format(python=sys.executable))
    path.chmod(0o755)
    return str(path)


def test_the_level_is_passed_on_and_the_row_comes_back_without_the_servers_keys(fake_python: str) -> None:
    endpoint = parse_endpoint("http://127.0.0.1:30000", {"SGLANG_API_KEY": "k"})
    row = run_external(External(fake_python, "/tok"), endpoint, SHAPE, 24)
    words = row["argv"]
    assert isinstance(words, list)
    for pair in (("--max-concurrency", "4"), ("--num-prompts", "24"), ("--random-output-len", "40"), ("--seed", "1")):
        assert words[words.index(pair[0]) + 1] == pair[1]
    assert row["tool"] == "bench_serving"
    assert row["key"] == "k"
    assert "k" not in words
    assert "secret" not in json.dumps(row)


def test_a_failure_tells_how_it_ended(fake_python: str) -> None:
    with pytest.raises(ToolError, match="no such tokenizer"):
        run_external(External(fake_python, "bad"), parse_endpoint("http://127.0.0.1:1"), SHAPE, 4)


def test_think_time_is_nothing_that_bench_serving_knows(fake_python: str) -> None:
    with pytest.raises(ToolError, match="think time"):
        run_external(External(fake_python), parse_endpoint("http://x:1"), Shape(concurrency=1, think_s=1), 4)


def test_the_interpreter_is_named_or_found_or_missed(fake_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_external(fake_python, "", {}).python == fake_python
    assert find_external("", "", {"PPAGENT_SGLANG_PYTHON": fake_python}).python == fake_python
    with pytest.raises(UserError, match="no interpreter"):
        find_external("/no/such", "", {})
    monkeypatch.setattr(external, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="not installed"):
        find_external("", "", {})


@pytest.mark.skipif(
    not (PYTHON and TOKENIZER),
    reason="needs PPAGENT_SGLANG_PYTHON (an interpreter with SGLang) and PPAGENT_SGLANG_TOKENIZER (a folder)",
)
def test_bench_serving_itself_and_our_client_agree_on_the_same_server() -> None:
    with FakeServer(base_ms=20, per_request_ms=5) as server:
        theirs = run_external(External(PYTHON, TOKENIZER), server.endpoint, SHAPE, 24)
        (ours,) = run_session(server.endpoint, (SHAPE,), PromptSource())
        row = ours.row()
    assert row["total_output_tokens"] == theirs["total_output_tokens"] == 24 * 40
    for name, share in (("output_throughput", 0.08), ("mean_itl_ms", 0.05), ("mean_tpot_ms", 0.05)):
        assert row[name] == pytest.approx(theirs[name], rel=share), name
