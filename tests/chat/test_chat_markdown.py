import io
import re

import pytest
from rich.console import Console

from ppagent.chat import markdown
from ppagent.chat.markdown import stream_markdown

COMMAND = "python -m sglang.launch_server " + " ".join(f"--flag-{n} value-{n}" for n in range(20))


def terminal(height: int = 10) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=60, height=height, markup=False, color_system=None)


def printed(console: Console) -> str:
    """What stands for good: escape sequences taken out, and with them what was painted over."""
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def kept_lines(console: Console) -> list[str]:
    """A small terminal: carriage returns, cursor up and erase line are followed."""
    lines: list[str] = [""]
    row = 0
    for part in re.split(r"(\x1b\[[0-9;?]*[a-zA-Z]|\r|\n)", printed(console)):
        if part == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif part == "\x1b[1A":
            row -= 1
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part and part != "\r" and not part.startswith("\x1b"):
            lines[row] += part
    return [line.rstrip() for line in lines]


def test_every_paragraph_of_an_answer_longer_than_the_screen_stands_once() -> None:
    console = terminal(height=8)
    text = "\n\n".join(f"Paragraph number {n}." for n in range(30))

    answer = stream_markdown(console, (text[at : at + 7] for at in range(0, len(text), 7)))

    assert answer == text
    kept = "\n".join(kept_lines(console))
    assert all(kept.count(f"Paragraph number {n}.") == 1 for n in range(30))


def test_a_command_is_printed_on_one_line_of_its_own_however_long_it_is() -> None:
    console = terminal()

    stream_markdown(console, ["Run:\n```sh\n", COMMAND, "\n```\n"])

    assert COMMAND in kept_lines(console)


def test_a_model_cannot_steer_the_terminal_or_use_markup() -> None:
    console = terminal()

    stream_markdown(console, ["[bold red]plain[/] \x1b]52;c;ZXZpbA==\x07 and \x1b[2J\u202ereversed\n\n"])

    shown = printed(console)
    assert "[bold red]plain[/]" in shown
    assert "\x1b]52" not in shown
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown


def test_an_address_stays_visible_and_becomes_no_link_of_the_terminal() -> None:
    console = terminal()

    stream_markdown(console, ["see [the docs](http://evil.example/x)\n\n"])

    assert "http://evil.example/x" in "".join(kept_lines(console))
    assert "\x1b]8" not in printed(console)


def test_blocks_stand_one_empty_line_apart_and_headings_on_the_left() -> None:
    console = terminal(height=30)

    stream_markdown(console, ["# Head\n\nText.\n\n1. one\n2. two\n\n```\ncode\n```\n\nEnd.\n"])

    assert kept_lines(console)[:9] == ["Head", "", "Text.", "", " 1 one", " 2 two", "", "code", ""]


def test_what_had_come_before_an_interrupt_stays() -> None:
    console = terminal()

    def pieces():  # type: ignore[no-untyped-def]
        yield "A whole paragraph.\n\n"
        yield "Half a sent"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream_markdown(console, pieces())

    assert "A whole paragraph." in kept_lines(console)
    assert "Half a sent" in kept_lines(console)
    assert kept_lines(console)[-2:] == ["(cut short)", ""]


@pytest.mark.parametrize("size", [1, 5, 12, 40])
def test_no_line_is_lost_or_told_twice_however_often_the_open_end_is_painted(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown, "FRAMES_PER_SECOND", 1_000_000_000)
    console = terminal(height=8)
    text = (
        "# Head\n\n"
        + "\n".join(f"- point {n}" for n in range(12))
        + "\n\n| C | tok/s |\n|---|---|\n| 1 | 24.7 |\n\nEnd.\n"
    )

    stream_markdown(console, (text[at : at + size] for at in range(0, len(text), size)))

    kept = kept_lines(console)
    assert [line for line in kept if line.startswith(" • ")] == [f" • point {n}" for n in range(12)]
    assert [kept.count(line) for line in ("Head", "End.")] == [1, 1]


def test_no_line_ends_in_spaces_which_a_copy_would_carry_along() -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=60)

    stream_markdown(console, ["# Head\n\nText.\n\n- one\n\n"])

    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().split("\n")
    assert lines == [line.rstrip() for line in lines]
