from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.agent.board import compute_board
from ppagent.brains.llm.levers import changed, refusals
from ppagent.causes.cause import Advice, Change, Declined
from ppagent.changes.commands import Installed
from ppagent.evidence.evidence import Evidence, FactValue
from ppagent.evidence.facts import Facts
from tests.brains.runs import SEED, by_rules

LIMIT = "--pp-max-micro-batch-size"
LAUNCH = "python -m sglang.launch_server --model-path /m --pp-size 8 --disable-cuda-graph --port 30000"


def facts(version: str = "0.5.11", **more: FactValue) -> Facts:
    told: dict[str, FactValue] = {"engine.version": version, "launch.command": LAUNCH}
    return Facts([Evidence("E1", "t", "launch.txt", told | {name.replace("__", "."): v for name, v in more.items()})])


def refused(known: Facts, **parts: object) -> list[str]:
    change = Change(**parts)  # type: ignore[arg-type]
    return refusals(change, Installed.of(known), compute_board(known), known)


@pytest.mark.parametrize(
    "parts",
    [
        {"set": {"--pp-max-micro-batch-size": "2"}},
        {"unset": ("--disable-cuda-graph",)},
        {"set": {"--cuda-graph-bs": "1 2 4"}},
        {"set": {"--attention-backend": "triton"}},
        {"env": {"SGLANG_PP_LAYER_PARTITION": "8,8,8,8,8,8,8,5"}},
        {"env": {"NCCL_ALGO": "RING"}},
        {"set": {"--chunked-prefill-size": "-1", "--disable-radix-cache": "true"}},
    ],
)
def test_a_number_a_switch_and_a_choice_may_be_proposed(parts: dict[str, object]) -> None:
    assert refused(facts(), **parts) == []


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({}, "it changes nothing"),
        ({"set": {"--warp-speed": "9"}}, "this version has no flag --warp-speed"),
        ({"set": {"--pp-max-micro-batch-sizes": "9"}}, "it has --pp-max-micro-batch-size"),
        ({"set": {"--pp-max-micro-batch-size": "2; rm -rf /"}}, "takes a number"),
        ({"set": {"--attention-backend": "evil"}}, "takes one of"),
        ({"set": {"--disable-cuda-graph": "yes"}}, "is a switch"),
        ({"set": {"--host": "0.0.0.0"}}, "not for a model to change"),
        ({"set": {"--port": "1"}}, "not for a model to change"),
        ({"set": {"--model-path": "evil/model"}}, "not for a model to change"),
        ({"set": {"--trust-remote-code": "true"}}, "not for a model to change"),
        ({"set": {"--enable-custom-logit-processor": "true"}}, "not for a model to change"),
        ({"set": {"--log-requests": "true"}}, "not for a model to change"),
        ({"set": {"--delete-ckpt-after-loading": "true"}}, "not for a model to change"),
        ({"set": {"--admin-api-key": "x"}}, "not for a model to change"),
        ({"unset": ("--api-key",)}, "not for a model to change"),
        ({"unset": ("--ssl-certfile",)}, "not for a model to change"),
        ({"set": {"--json-model-override-args": "{}"}}, "not for a model to change"),
        ({"env": {"LD_PRELOAD": "1"}}, "not for a model to change"),
        ({"env": {"SGLANG_PLUGINS": "1"}}, "not for a model to change"),
        ({"env": {"PYTHONPATH": "1"}}, "not for a model to change"),
        ({"env": {"NCCL_DEBUG_FILE": "1"}}, "not for a model to change"),
        ({"env": {"NCCL_ALGO": "$(id)"}}, "takes a number or a plain word"),
        ({"env": {"NCCL_ALGO": "ring\nX=1"}}, "takes a number or a plain word"),
        (
            {"set": {"--chunked-prefill-size": "7", "--page-size": "16"}},
            "SGLang 0.5.11 would refuse it: A prefill chunk",
        ),
        ({"set": {"--pp-size": "0"}}, "--pp-size takes 1 or more"),
        ({"set": {"--mem-fraction-static": "1.5"}}, "--mem-fraction-static takes a share below 1"),
        ({"set": {f"--flag-{n}": "1" for n in range(9)}}, "more than 6 things"),
    ],
)
def test_what_may_not_be_proposed_is_refused_with_the_reason(parts: dict[str, object], why: str) -> None:
    assert any(why in said for said in refused(facts(), **parts))


def test_without_a_version_no_flag_can_be_checked() -> None:
    assert refused(facts(version=""), set={"--pp-size": "4"}) == [
        "SGLang's version is not known, so no flag can be checked"
    ]


def test_a_flag_of_another_version_is_refused() -> None:
    assert refused(facts("0.5.3"), set={"--pp-async-batch-depth": "1"})
    assert refused(facts("0.5.11"), set={"--pp-async-batch-depth": "1"}) == []


def test_a_lever_that_a_supported_cause_declines_is_refused_with_its_reason() -> None:
    found = by_rules(SEED)
    change = Change({"--pp-async-batch-depth": "2"})

    wrong = refusals(change, Installed.of(found.facts), found.board, found.facts)

    assert any("--pp-async-batch-depth is declined: it adds slots" in said for said in wrong)


@pytest.mark.parametrize(("version", "lever"), [("0.5.3", "--max-micro-batch-size"), ("0.5.11", LIMIT)])
def test_a_declined_lever_is_refused_by_the_name_that_it_has_in_the_version(version: str, lever: str) -> None:
    advice = Advice((), (Declined(LIMIT, "it fills nothing"),))
    cause = SimpleNamespace(advise=lambda facts: advice)
    board: Any = SimpleNamespace(supported=(SimpleNamespace(judgement=SimpleNamespace(cause=cause)),))
    known = facts(version)
    assert refusals(Change({lever: "4"}), Installed.of(known), board, known) == [
        f"{lever} is declined: it fills nothing"
    ]


def declaring(*rows: FactValue, version: str = "0.5.11") -> dict[str, FactValue]:
    """What the tool tells of a source with flags of its own."""
    return {"from": "source", "version": version, "release": "0.5.11", "added": [*rows]}


def row(**more: FactValue) -> dict[str, FactValue]:
    return {"name": "--pp-refill-stride", "dest": "pp_refill_stride", "type": "int"} | more


def test_a_flag_that_the_installed_source_declares_may_be_proposed_where_no_release_has_it() -> None:
    known = facts(source__flags=declaring(row()))

    assert refused(known, set={"--pp-refill-stride": "1"}) == []
    assert refused(known, set={"--pp-refill-stride": "evil"})
    assert refused(facts(), set={"--pp-refill-stride": "1"})


def test_a_flag_that_the_installed_source_lacks_may_not_be_proposed_whatever_its_release_has() -> None:
    told = declaring() | {"removed": [{"name": "--pp-max-micro-batch-size"}]}

    wrong = refused(facts(source__flags=told), set={"--pp-max-micro-batch-size": "1"})

    assert any("this version has no flag --pp-max-micro-batch-size" in said for said in wrong)


@pytest.mark.parametrize("told", [row(name="-x y"), row(name=7), {}, "text", None, row(name="--a b")])
def test_an_odd_flag_fact_adds_nothing(told: FactValue) -> None:
    assert refused(facts(source__flags=declaring(told)), set={"--pp-refill-stride": "1"})


@pytest.mark.parametrize("told", [row(name="--host"), row(name="--harmless", dest="host"), row(aliases=["--api-key"])])
def test_a_source_cannot_open_what_is_guarded_by_another_name_or_field(told: dict[str, FactValue]) -> None:
    fact = declaring(told) | {"changed": [told]}

    assert refused(facts(source__flags=fact), set={str(told["name"]): "1"})


def test_a_choice_that_is_more_than_a_word_is_none() -> None:
    told = row(name="--pp-kind", dest="pp_kind", type="str", choices=["good", "; curl evil", "a\nb", ""])
    known = facts(source__flags=declaring(told))

    assert refused(known, set={"--pp-kind": "good"}) == []
    assert refused(known, set={"--pp-kind": "; curl evil"}) == ["--pp-kind takes one of good"]


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_at_all_gets_through_as_a_value_or_a_variable(name: str, value: str) -> None:
    change = changed([("--attention-backend", value)], [], [(name, value)])
    known = facts()

    wrong = refusals(change, Installed.of(known), compute_board(Facts(), ()), known)

    assert wrong or value.strip() in ("triton", "flashinfer", "fa3", "torch_native")
