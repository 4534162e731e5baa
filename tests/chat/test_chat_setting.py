import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.chat.answers.setting import Setting, read_setting, taken_for_split
from ppagent.chat.answers.unused import unused_in

WORDS = """what if --pp-max-micro-batch-size = 2 limit to 8,8,8 C= 16 requests --disable-cuda-graph graphs on
SGLANG_PP_LAYER_PARTITION=8,8 pp_async_batch_depth=1 -- - ? without , . drop é \u00b2"""
ANY = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what if the limit is 2?", Setting(limit=2)),
        ("what if I set --pp-max-micro-batch-size=4?", Setting(limit=4)),
        ("--pp-max-micro-batch-size 4 at C=16", Setting(limit=4, concurrency=16)),
        ("pp_max_micro_batch_size=1.", Setting(limit=1)),
        ("a micro-batch size of 3 with 24 users", Setting(limit=3, concurrency=24)),
        ("--pp-async-batch-depth 2", Setting(depth=2)),
        ("async depth 0", Setting(depth=0)),
        ("what if we turn on cuda graphs", Setting(graphs=True)),
        ("without --disable-cuda-graph", Setting(graphs=True)),
        ("--disable-cuda-graph=false", Setting(graphs=True)),
        ("graphs on, limit 1", Setting(limit=1, graphs=True)),
        ("graphs off", Setting(graphs=False)),
        ("SGLANG_PP_LAYER_PARTITION=8,8,8,8,8,8,8,5", Setting(split=(8, 8, 8, 8, 8, 8, 8, 5))),
        ("split the layers 8,8,8,5", Setting(split=(8, 8, 8, 5))),
        ("--chunked-prefill-size 4096", Setting(others={"--chunked-prefill-size": "4096"})),
        ("drop --enable-dp-attention", Setting(dropped=("--enable-dp-attention",))),
        ("what if the load is 32 requests", Setting(concurrency=32)),
    ],
)
def test_settings_as_people_write_them(text: str, expected: Setting) -> None:
    found = read_setting(text)

    assert (found.limit, found.depth, found.graphs, found.split) == (
        expected.limit,
        expected.depth,
        expected.graphs,
        expected.split,
    )
    assert (found.concurrency, dict(found.others), found.dropped) == (
        expected.concurrency,
        dict(expected.others),
        expected.dropped,
    )


def test_a_flag_without_a_value_is_named_and_sets_nothing() -> None:
    found = read_setting("what does --pp-async-batch-depth do?")

    assert found.named == ("--pp-async-batch-depth",)
    assert found.empty


@given(ANY)
def test_any_words_are_read_without_a_fall_and_numbers_are_positive(text: str) -> None:
    found = read_setting(text)

    assert found.limit is None or found.limit >= 1
    assert found.depth is None or found.depth >= 0
    assert found.empty == (found.text == "")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("what if I set pp_max_micro_batch_size 2?", 2),
        ("what if pp_max_micro_batch_size were 4", 4),
        ("set pp_max_micro_batch_size to 1", 1),
        ("does pp_max_micro_batch_size help here?", None),
    ],
)
def test_a_field_and_its_value_need_no_equals_sign(text: str, limit: int | None) -> None:
    assert read_setting(text).limit == limit


SPLIT = (8, 8, 8, 8, 8, 8, 8, 5)


@pytest.mark.parametrize(
    "text",
    [
        "limit 1 and 8,8,8,8,8,8,8,5",
        "8,8,8,8,8,8,8,5 with limit 1",
        "what if I set limit 1 and split 8/8/8/8/8/8/8/5?",
        "8 8 8 8 8 8 8 5 layers and limit=1",
    ],
)
def test_a_split_is_read_beside_a_limit_wherever_it_stands(text: str) -> None:
    found = taken_for_split(read_setting(text))

    assert (found.limit, found.split, unused_in(text)) == (1, SPLIT, ())


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("limit 1, graphs on, depth 2, tp4 pp2 at C=16", ()),
        ("what if limit 1 and fp8 kv?", ("fp8 kv",)),
        ("limit 1 and mtp on", ("mtp",)),
        ("limit 0", ("limit 0",)),
        ("limit 1 at C=1,4,8", ("4,8",)),
        ("limit 1 and limit 2", ("limit 2",)),
        ("what if I set the limit to 2 with 16 users, would throughput go up?", ()),
    ],
)
def test_what_no_setting_was_read_from_is_left_over(text: str, unused: tuple[str, ...]) -> None:
    assert unused_in(text) == unused


def test_load_levels_in_a_complaint_are_no_split() -> None:
    assert not read_setting("I get 24,68,95 tok/s, why is it slow?").modelled
