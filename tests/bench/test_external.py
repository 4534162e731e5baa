import json
import os
import sys
import time
from pathlib import Path

import pytest

from ppagent.bench import external
from ppagent.bench.endpoint import parse_endpoint
from ppagent.bench.external import External, find_external, run_external
from ppagent.bench.level import Progress
from ppagent.bench.prompts import Span
from ppagent.bench.serving import Client
from ppagent.bench.session import PromptSource, run_session
from ppagent.bench.shape import Shape
from ppagent.errors import ToolError, UserError
from tests.bench.fakes import FakeServer
from tests.fixtures.sshd import gone

SHAPE = Shape(concurrency=4, requests=24, seconds=120, input_tokens=Span(16, 16), output_tokens=Span(40, 40))
PYTHON, TOKENIZER = os.environ.get("PPAGENT_SGLANG_PYTHON", ""), os.environ.get("PPAGENT_SGLANG_TOKENIZER", "")

FAKE = """#!{python}
import json, os, sys
words = sys.argv[1:]
row = {{"argv": words, "key": os.environ.get("OPENAI_API_KEY"), "server_info": {{"api_key": "secret"}},
       "output_throughput": 5.0}}
print("Starting warmup with 4 sequences...")
print("\\r 50%|##  | 12/24 [00:01<00:01, 9.00it/s]", end="", file=sys.stderr, flush=True)
if "--tokenizer" in words and words[words.index("--tokenizer") + 1] == "slow":
    import time
    time.sleep(60)
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


def test_how_far_it_is_is_told_while_it_runs_and_is_no_part_of_a_failure(fake_python: str) -> None:
    shown: list[Progress] = []
    said: list[str] = []
    endpoint = parse_endpoint("http://127.0.0.1:1")
    Client(External(fake_python), endpoint).run(SHAPE, 24, said.append, shown.append)
    assert [(at.completed, at.share) for at in shown] == [(0, 0.0), (12, 0.5)]
    assert {at.label for at in shown} == {"C=4"}
    assert said == ["Starting warmup with 4 sequences..."]
    with pytest.raises(ToolError) as failed:
        Client(External(fake_python, "bad"), endpoint).run(SHAPE, 24, said.append, shown.append)
    assert "12/24" not in str(failed.value)


def test_one_that_does_not_end_in_time_is_ended(fake_python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "time_limit_s", lambda shape: 1.0)
    begin = time.monotonic()
    with pytest.raises(ToolError, match="did not end within 1 s"):
        run_external(External(fake_python, "slow"), parse_endpoint("http://127.0.0.1:1"), SHAPE, 4)
    assert time.monotonic() - begin < 20
    assert gone("--tokenizer\0slow")


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
