import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.facts import Facts
from ppagent.evidence.ledger import Ledger
from ppagent.plugins import ToolContext
from ppagent.targets.pasted import read_pasted
from ppagent_tools.http import Metrics

RUNNING = 'sglang:num_running_reqs{model_name="kimi",pp_rank="0",tp_rank="0"} 3.0'
QUEUE = 'sglang:num_queue_reqs{model_name="kimi",pp_rank="0"} 41'
OTHER = "# HELP sglang:num_queue_reqs waiting\n# TYPE sglang:num_queue_reqs gauge\npython_gc_objects_total 12.0\n"


def facts_of(text: str) -> Facts:
    tool, ledger = Metrics(), Ledger()
    for finding in tool.run(ToolContext(read_pasted(text)), tool.arguments()):
        ledger.add(tool.name, finding)
    return ledger.facts()


def test_pasted_samples_are_one_scrape_and_the_words_around_them_stay_the_users() -> None:
    pasted = read_pasted(f"Why is it slow?\n{OTHER}{RUNNING}\n{QUEUE}\nwe have 64 users")

    assert pasted.scrapes("pasted") == (("metrics/1.prom", f"{RUNNING}\n{QUEUE}\n"),)
    assert pasted.words == "Why is it slow?\nwe have 64 users"
    assert not pasted.empty


def test_pasted_samples_are_read_as_metrics() -> None:
    facts = facts_of(f"{RUNNING}\n{QUEUE}")

    assert facts.number("metrics.running_reqs") == 3.0
    assert facts.number("metrics.queue_reqs") == 41.0


@pytest.mark.parametrize(
    "line",
    [
        f"metrics/3.prom:{RUNNING}",
        f"  {RUNNING}  ",
        "sglang_num_running_reqs 3",
        "sglang:num_running_reqs 3e0 1746189865000",
    ],
)
def test_a_sample_is_known_as_grep_and_older_exporters_print_it(line: str) -> None:
    assert facts_of(line).number("metrics.running_reqs") == 3.0


@pytest.mark.parametrize(
    "words",
    ["sglang:num_running_reqs is 3, why?", "what does sglang:token_usage mean", "sglang 0.5.11", "vllm:num_requests 3"],
)
def test_a_sentence_about_a_metric_is_no_sample(words: str) -> None:
    pasted = read_pasted(words)

    assert pasted.words == words
    with pytest.raises(NotRecorded):
        pasted.scrapes("pasted")


def test_there_is_no_other_host_to_scrape() -> None:
    with pytest.raises(ToolError, match="there is no host 'box'"):
        read_pasted(RUNNING).scrapes("box")


@given(st.floats(min_value=0, max_value=1e9), st.text(st.characters(blacklist_characters='"{}\n\r\\'), max_size=20))
def test_any_value_and_label_is_taken_whole(value: float, label: str) -> None:
    line = f'sglang:num_queue_reqs{{model_name="{label}"}} {value!r}'

    scrapes = read_pasted(line).scrapes("pasted")

    assert repr(value) in scrapes[0][1]
