import pytest

from ppagent.sglang.flags.wording import replacement_in, says_deprecated


@pytest.mark.parametrize(
    "text",
    [
        "(Deprecated) Old.",
        "[Deprecated] Use --b.",
        "Deprecated. Use --b.",
        "NOTE: --a is deprecated. Use --b.",
        "Removed. Use --b.",
        "(Deprecated: use --b)",
    ],
)
def test_help_that_opens_with_its_end_is_deprecated(text: str) -> None:
    assert says_deprecated(text)


@pytest.mark.parametrize(
    "text", ["", "Replaces the deprecated variable X.", "Which flags are deprecated.", "Removes padding."]
)
def test_help_that_only_speaks_of_such_things_is_not(text: str) -> None:
    assert not says_deprecated(text)


@pytest.mark.parametrize(
    ("text", "replacement"),
    [
        ("[Deprecated] Use --new-flag instead.", "--new-flag"),
        ("Deprecated. Use --new-flag=value for bounded things.", "--new-flag=value"),
        ("Please set `--new-flag` to 'value' instead.", "--new-flag=value"),
        ("Please set `--new-flag` to the same value as `--other`.", "--new-flag"),
        ("Please use '--new-flag value' instead.", "--new-flag value"),
        ("(Deprecated: use --new-flag=auto) Fuses.", "--new-flag=auto"),
        ("Deprecated alias for --new-flag=x.", "--new-flag=x"),
        ("[Deprecated] Alias for --new-flag recover.", "--new-flag recover"),
        ("Use SGLANG_A=1 and SGLANG_B=1 instead.", "SGLANG_A=1 and SGLANG_B=1"),
        ("It is on by default. Use --other to skip the checks.", None),
        ("Deprecated. It is always on now.", None),
    ],
)
def test_the_flag_to_use_instead_is_read_from_the_sentence(text: str, replacement: str | None) -> None:
    assert replacement_in(text) == replacement
