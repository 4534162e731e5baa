import re
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tool_fakes import FakeTarget, box, facts_of, run

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.target import Shared
from ppagent_tools.stated_figures import stated_figures
from ppagent_tools.stated_gpu import stated_gpus
from ppagent_tools.stated_levels import stated_load
from ppagent_tools.user import StatedFacts, verbatim
from tests.fixtures.growth import LINEAR, growth


def levels(*pairs: tuple[float, float]) -> tuple[dict[str, float], ...]:
    return tuple({"concurrency": c, "output_throughput": x} for c, x in pairs)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("24.7 / 68.3 / 95.6 tok/s at C = 1 / 4 / 8.", levels((1, 24.7), (4, 68.3), (8, 95.6))),
        ("It gives 24.7/68.3/95.6 tokens/s at concurrency 1/4/8", levels((1, 24.7), (4, 68.3), (8, 95.6))),
        ("Single-request throughput of only ~24.7 tok/s, 68.3 tok/s at C=4 and 95.6 tok/s at C=8.",
         levels((1, 24.7), (4, 68.3), (8, 95.6))),
        ("95.6 tok/s with 8 concurrent requests", levels((8, 95.6))),
        ("8 concurrent requests give 95.6 tok/s, one request gives 24.7 tok/s.", levels((8, 95.6), (1, 24.7))),
        ("1,200 tokens per second at 128 concurrent", levels((128, 1200))),
        ("We get 12 tok/s per user at 8 users.", levels((8, 96))),
        ("10 tok/s for a single stream", levels((1, 10))),
        ("One alone gets about 2.4.", levels((1, 2.4))),
        ("Eight people at a time together get less than 10 tok/s.", levels((8, 10))),
        ("one request at a time works at 90-100 tok/s", levels((1, 95))),
        ("Prefill runs at 4000 tok/s.", ()),
        ("I hoped for 20 tok/s with 8 users.", ()),
        ("Others report 126-136 tok/s for one user.", ()),
        ("token usage is 3 %, 5 req/s at C=8", ()),
    ],
)  # fmt: skip
def test_measured_levels_are_read_and_hopes_are_not(sentence: str, expected: tuple[Mapping[str, float], ...]) -> None:
    assert stated_load(sentence).levels == expected


def test_a_figure_of_another_time_or_setting_is_kept_apart() -> None:
    load = stated_load("It used to be 120 tok/s at C=8 with TP8.")
    assert load.levels == ()
    assert load.prior == levels((8, 120))
    other = stated_load("Without a schema the same prompts run at 486 tok/s with 8 users.")
    assert (other.levels, other.prior) == ((), levels((8, 486)))
    assert stated_load("We run without CUDA graphs and get 96 tok/s at C=8.").levels == levels((8, 96))


@pytest.mark.parametrize(
    ("sentence", "requests"),
    [
        ("With 8 requests in flight the log shows 2-3 running requests per PP stage.", 8),
        ("32 users share the box", 32),
        ("A batch job sends 8 requests at a time to this 8-stage server.", 8),
        ("Eight people at a time use this server", 8),
        ("3 requests per second, 500 requests in total", None),
        ("5000 users on the site", None),
        ("2-3 running requests", None),
    ],
)
def test_requests_in_flight_are_no_rate_and_no_total(sentence: str, requests: float | None) -> None:
    assert stated_load(sentence).in_flight == requests


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("All eight cards show 0 % utilisation and about 85 W in a snapshot.",
         {"stated.gpu_count": 8, "stated.idle_power_w": 85, "stated.utilization": {"low": 0, "high": 0}}),
        ("Under load each card draws 150-200 W of 600 W.",
         {"stated.power_w": {"low": 150, "high": 200}, "stated.power_limit_w": 600}),
        ("gpu util at 150/200 out of 600, makes no sense",
         {"stated.power_w": {"low": 150, "high": 200}, "stated.power_limit_w": 600}),
        ("Power cap 250 W (default 370), 2x 3090.",
         {"stated.power_limit_w": 250, "stated.power_default_limit_w": 370, "stated.gpu_count": 2,
          "stated.gpu_model": "3090"}),
        ("util 20 % to 50 % on 8x RTX PRO 6000",
         {"stated.utilization": {"low": 20, "high": 50}, "stated.gpu_count": 8, "stated.gpu_model": "RTX PRO 6000"}),
        ("2 nodes x 8 H100", {"stated.gpu_count": 16, "stated.gpu_model": "H100"}),
        ("DeepSeek R1 in 2 H100 Machines", {}),
        ("16 Nvidia H100 GPU nodes", {"stated.gpu_model": "Nvidia H100"}),
        ("On a 8xH200 node", {"stated.gpu_count": 8, "stated.gpu_model": "H200"}),
        ("token usage is 3 %, CPU usage 90 %", {}),
        ("5 out of 600 requests failed", {}),
    ],
)  # fmt: skip
def test_what_is_said_of_cards_is_read(sentence: str, facts: dict[str, object]) -> None:
    assert stated_gpus(sentence) == facts


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("2-3 running requests per PP stage", {"stated.running_per_stage": {"low": 2, "high": 3}}),
        ("one running request on each stage", {"stated.running_per_stage": {"low": 1, "high": 1}}),
        ("61 layers over 8 stages", {"stated.layers": 61, "stated.stages": 8}),
        ("7 layers per stage", {}),
        ("The scheduler process sits at 98 % CPU.", {"stated.scheduler_cpu_percent": 98}),
        ("The detokenizer is at 100 % of a core", {"stated.tokenizer_cpu_percent": 100}),
        ("TTFT is 34 s, ITL 180 ms", {"stated.ttft_ms": 34000, "stated.itl_ms": 180}),
        ("SGLang 0.5.11 with --max-running-requests 16 and --disable-cuda-graph",
         {"engine.version": "0.5.11", "engine.source": "stated",
          "stated.flags": ["--max-running-requests 16", "--disable-cuda-graph"]}),
    ],
)  # fmt: skip
def test_other_figures_are_read(sentence: str, facts: dict[str, object]) -> None:
    assert stated_figures(sentence) == facts


INCIDENT = """\
question: A batch job sends 8 requests at a time to this 8-stage server. Stages take 40-50 ms each, so I hoped for
  20 tok/s. Why do I get about 11?
stated:
- 'It''s 24.7 tok/s at C=1.'
- Others say 95.6 tok/s at C=8.
- It is 68.3 tok/s at C=4.
- Nobody changed anything.
origin: {kind: measured}
stack: {engine: sglang, version: "0.5.11", gpus: "8x NVIDIA RTX PRO 6000 Blackwell 96 GB", model: Kimi}
"""


def incident(text: str) -> FakeTarget:
    return FakeTarget(shared={Shared.INCIDENT: text})


def test_each_sentence_with_figures_is_a_finding_that_quotes_it() -> None:
    findings = run(StatedFacts(), incident(INCIDENT))
    facts = facts_of(findings)
    assert facts.items("stated.levels") == list(levels((1, 24.7), (4, 68.3)))
    assert facts.number("stated.in_flight") == 8
    assert facts.number("stated.stages") == 8
    assert len(facts.items("stated.sentences")) == 4
    quoted = {finding.excerpt for finding in findings}
    assert "It''s 24.7 tok/s at C=1." in quoted
    assert "Stages take 40-50 ms each, so I hoped for\n  20 tok/s." in quoted


def test_the_stack_is_stated_too() -> None:
    facts = facts_of(run(StatedFacts(), incident(INCIDENT)))
    assert facts.text("engine.version") == "0.5.11"
    assert facts.number("stated.gpu_count") == 8
    assert facts.text("stated.gpu_model") == "NVIDIA RTX PRO 6000 Blackwell 96 GB"
    assert facts.text("recording.origin") == "measured"


def test_an_emulated_device_is_no_card() -> None:
    facts = facts_of(run(StatedFacts(), incident("question: q\nstack: {gpus: 'none: real SGLang on a CPU'}\n")))
    assert "stated.gpu_count" not in facts
    assert "stated.gpu_model" not in facts
    assert facts.text("recording.gpus") == "none: real SGLang on a CPU"


def test_a_question_that_no_artifact_holds_is_read_all_the_same() -> None:
    facts = facts_of(run(StatedFacts(), FakeTarget(), question="Why only 95.6 tok/s at C=8?"))
    assert facts.text("stated.question") == "Why only 95.6 tok/s at C=8?"
    assert facts.items("stated.levels") == list(levels((8, 95.6)))
    with pytest.raises(NotRecorded):
        run(StatedFacts(), FakeTarget())


def test_a_question_put_with_the_call_stands_in_for_the_recorded_one() -> None:
    facts = facts_of(run(StatedFacts(), incident(INCIDENT), question="Is 95.6 tok/s at C=8 fine?"))
    assert facts.text("stated.question") == "Is 95.6 tok/s at C=8 fine?"
    assert "It's 24.7 tok/s at C=1." in facts.items("stated.sentences")


@pytest.mark.parametrize(
    ("text", "why"),
    [("a: [b\nc: d", "line 2"), ("- just\n- a list", "line 1"), ("stated: 5", "list"), ("a: \x01", "no YAML")],
)
def test_a_malformed_incident_is_named(text: str, why: str) -> None:
    with pytest.raises(ToolError, match=f"(?s)incident.yaml.*{why}"):
        run(StatedFacts(), incident(text))


@given(
    st.lists(
        st.text(alphabet="ab'\"\\:#-é 1.%", min_size=1, max_size=30).map(str.strip).filter(bool), min_size=1, max_size=3
    )
)
def test_any_sentence_that_yaml_wrote_is_quoted_or_left_out(sentences: list[str]) -> None:
    text = yaml.safe_dump({"question": "q", "stated": sentences}, allow_unicode=True, width=40)
    run(StatedFacts(), incident(text))


@given(st.text(max_size=120))
def test_any_words_can_be_read(text: str) -> None:
    stated_load(text)
    stated_gpus(text)
    stated_figures(text)


def test_words_that_stand_nowhere_are_not_quoted() -> None:
    assert verbatim("a b\n  c", "b c") == "b\n  c"
    assert verbatim("a b", "x") == ""


@given(
    st.lists(st.text("ab'\"\\.", min_size=1, max_size=6), min_size=1, max_size=8),
    st.sampled_from(("'", '"', None, ">")),
)
def test_what_was_said_is_found_in_its_yaml_however_it_is_folded(words: list[str], style: str | None) -> None:
    said = " ".join(["a", *words, "b"])
    text = "before: x\n" + yaml.dump({"question": said}, default_style=style, width=12)
    quoted = verbatim(text, said)
    assert quoted and quoted in text
    assert "before" not in quoted
    assert re.sub(r"\W", "", quoted) == re.sub(r"\W", "", said)


LONG = "why is it slow with 64 users and 12 tok/s "


def test_a_message_of_a_book_s_length_is_read() -> None:
    findings = run(StatedFacts(), FakeTarget(), question=LONG * 5000)
    assert facts_of(findings).number("stated.in_flight") == 64


@pytest.mark.bench
def test_the_time_for_a_message_grows_with_its_length() -> None:
    assert growth(lambda said: run(StatedFacts(), FakeTarget(), question=said), LONG, 50_000) < LINEAR


def test_aliases_that_multiply_and_files_that_are_too_long_are_no_words() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    target = FakeTarget(
        shared={Shared.INCIDENT: f"{bomb}question: *j\nstated: [*j, eight users]\nstack: {{gpus: *j}}\n"}
    )
    facts = facts_of(run(StatedFacts(), target))
    assert facts.items("stated.sentences") == ["eight users"]
    assert "stated.question" not in facts and "recording.gpus" not in facts

    with pytest.raises(ToolError, match="longer than"):
        run(StatedFacts(), FakeTarget(shared={Shared.INCIDENT: "question: " + "x" * 300_000}))


@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, ",".join(["999"] * 200)])
def test_a_row_of_digits_is_no_figure(digits: str) -> None:
    stated = [
        f"{digits} tok/s with {digits} concurrent requests on {digits}x H100, the cards draw {digits} W of {digits} W.",
        f"The model has {digits} layers over {digits} stages, GPU util is {digits} %, TPOT {digits} ms.",
    ]
    run(StatedFacts(), FakeTarget(shared={Shared.INCIDENT: yaml.safe_dump({"question": digits, "stated": stated})}))


@pytest.mark.parametrize(
    ("words", "version"),
    [
        ("With sglang 0.4.5 it is slow. It was not with sglang 0.4.3.", None),
        ("With sglang 0.4.5 it is slow. We run sglang 0.4.5 on H20.", "0.4.5"),
    ],
)
def test_of_two_versions_in_the_words_none_is_taken_for_the_one_that_runs(words: str, version: str | None) -> None:
    facts = facts_of(run(StatedFacts(), box(), question=words))
    assert facts.text("engine.version") == version
    assert facts.get("stated.question") is not None


def test_a_recording_that_ended_early_says_so_in_a_diagnosis_of_it() -> None:
    note = "The recording ended early: the connection to b is lost: SSH session not active."
    text = f"question: ''\nstated: []\nnotes:\n- Recorded by ppagent.\n- '{note.replace(' SSH', chr(10) + '  SSH')}'\n"
    (found,) = run(StatedFacts(), incident(text))
    assert found.facts == {"tool.unread": [note.rstrip(".")]}
    assert found.excerpt.startswith("The recording ended early: the connection to b")


@pytest.mark.parametrize(
    "notes", ["notes: 7", "notes: [[a]]", "notes: [fine]", "notes: {The recording ended early: x}"]
)
def test_other_notes_are_for_people(notes: str) -> None:
    assert run(StatedFacts(), incident(f"question: ''\n{notes}\n")) in ([], ())


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("we have 8x RTX 6000 pro", "RTX PRO 6000"),
        ("we have 8x RTX 6000 Pro Blackwell", "RTX PRO 6000 Blackwell"),
        ("we have 8x RTX 6000 Ada", "RTX 6000 Ada"),
        ("we have 8x RTX 6000", "RTX 6000"),
    ],
)
def test_a_pro_card_is_no_other_card_wherever_the_pro_stands(words: str, model: str) -> None:
    assert stated_gpus(words) == {"stated.gpu_count": 8, "stated.gpu_model": model}
