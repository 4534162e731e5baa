"""Single flags before a version: what argparse would say, and what to write instead."""

import pytest
from legality_samples import problems, refused

from ppagent.sglang.flags.history import catalogue_of
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.legality.check import check
from ppagent.sglang.legality.renames import other_name


@pytest.mark.parametrize(
    ("arguments", "version", "instead"),
    [
        ("--max-micro-batch-size 4", "0.5.3.post1", "--pp-max-micro-batch-size 4"),
        ("--pp-max-micro-batch-size 4", "0.5.3", "--max-micro-batch-size 4"),
        ("--cuda-graph-max-bs 8", "0.5.20", "--cuda-graph-max-bs-decode 8"),
        ("--cuda-graph-bs 1 2 4", "0.5.23", "--cuda-graph-bs-decode 1 2 4"),
        ("--cuda-graph-max-bs-decode 8", "0.5.10", "--cuda-graph-max-bs 8"),
        ("--pp 8", "0.5.4", "--pp-size 8"),
        ("--tp_size 8", "0.5.10", "--tp-size 8"),
        ("--enable-ep-moe", "0.5.10", "--ep-size 1"),
        ("--chunked-prefil-size 4096", "0.5.10", "--chunked-prefill-size 4096"),
    ],
)
def test_a_flag_of_another_version_is_refused_with_this_ones_name(arguments: str, version: str, instead: str) -> None:
    found = problems(arguments, version)[0]
    assert (found.kind, found.flag, found.write_instead) == ("refused", arguments.split()[0], instead)


def test_an_abbreviation_that_is_still_unique_is_taken() -> None:
    assert problems("--pp 8 --tp 2", "0.5.3") == ()


def test_the_versions_that_have_the_flag_are_named() -> None:
    assert "0.5.7 to 0.5.23" in problems("--pp-async-batch-depth 2", "0.5.6")[0].says


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--tp two", "'two' is not a whole number"),
        ("--mem-fraction-static most", "'most' is not a number"),
        ("--schedule-policy nope", "no choice 'nope'"),
        ("--tp", "needs a value"),
        ("--disable-cuda-graph=true", "takes no value"),
        ("--json-model-override-args {", "no JSON"),
        ("--tp 2 stray", "belongs to no flag"),
    ],
)
def test_a_value_that_argparse_or_the_server_cannot_read_is_refused(arguments: str, says: str) -> None:
    assert says in problems(arguments, "0.5.10")[0].says


def test_a_variable_nobody_knows_is_not_judged() -> None:
    assert problems('--tp $TP --mem-fraction-static "$MEM" --schedule-policy $(pick)', "0.5.10") == ()


def test_deprecated_flags_are_warned_of_with_what_replaces_them() -> None:
    found = problems("--disable-cuda-graph", "0.5.14")
    assert [(p.kind, p.write_instead) for p in found] == [("warning", "--cuda-graph-backend-{decode,prefill}=disabled")]


def test_a_deprecated_flag_without_effect_is_ignored_and_one_that_stops_is_refused() -> None:
    assert problems("--enable-piecewise-cuda-graph", "0.5.10")[0].kind == "ignored"
    assert problems("--enable-flashmla", "0.4.7")[0].kind == "refused"


def test_the_model_is_required_unless_something_unread_may_name_it() -> None:
    catalogue = catalogue_of("0.5.10")
    texts = ("sglang serve --tp 2", "sglang serve --config x.yaml", 'sglang serve "$@"')
    found = [check(parse_launch(text, catalogue), "0.5.10", catalogue) for text in texts]
    assert [[problem.flag for problem in problems] for problems in found] == [["--model-path"], [], []]


def test_serve_takes_a_model_in_front_from_0_5_16() -> None:
    for version, flags in (("0.5.15", ["m", "--model-path"]), ("0.5.16", [])):
        catalogue = catalogue_of(version)
        found = check(parse_launch("sglang serve m --tp 2", catalogue), version, catalogue)
        assert [problem.flag for problem in found] == flags


def test_rules_still_see_what_a_misspelled_flag_was_meant_to_say() -> None:
    assert refused("--pp 2 --enable-mixed-chunk", "0.5.10") == ["--pp", "--enable-mixed-chunk"]


def test_nothing_near_gives_no_advice() -> None:
    assert other_name("--xyzzy", catalogue_of("0.5.10")) is None


def test_each_unknown_option_is_named_once_and_a_flood_of_them_only_counted() -> None:
    flood = [f"--nobody-{place}" for place in range(3000)]
    found = problems(" ".join((*flood, *flood)), "0.5.10")
    assert [problem.flag for problem in found[:40]] == flood[:40]
    assert found[40].says.startswith("2960 more options")
    assert len(found) < 50


@pytest.mark.parametrize("odd", ["[" * 100_000, '{"a":' * 50_000])
def test_json_that_nests_without_end_is_no_json(odd: str) -> None:
    assert refused(f"--json-model-override-args '{odd}'", "0.5.10") == ["--json-model-override-args"]


@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "-" + "9" * 5000, "9" * 400 + "Ki"])
@pytest.mark.parametrize("flag", ["--pp-size", "--context-length", "--max-total-tokens", "--mem-fraction-static"])
def test_a_value_of_endless_digits_is_judged_and_nothing_fails(flag: str, digits: str) -> None:
    problems(f"{flag} {digits}", "0.5.20", env="SGLANG_PP_LAYER_PARTITION=1,2", layers=61)
    parse_launch(f"sglang serve m {flag} {digits}", None)
