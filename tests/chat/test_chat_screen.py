import io
import time

from ppagent.chat.screen import PlainScreen, TerminalScreen
from ppagent.report.lines import Line

LONG = "x" * 200


def terminal() -> tuple[TerminalScreen, io.StringIO]:
    from rich.console import Console

    out = io.StringIO()
    screen = TerminalScreen(out)
    screen.console = Console(file=out, force_terminal=True, width=80, markup=False, highlight=False, emoji=False)
    return screen, out


def test_text_of_others_cannot_steer_a_terminal_and_is_no_markup() -> None:
    for screen, out in (terminal(), (PlainScreen(plain := io.StringIO()), plain)):
        screen.show([Line("[red]a[/red] :smile: \x1b[2J\x1b]0;title\x07\u202eb")])

        assert "[red]a[/red] :smile: b" in out.getvalue()
        assert "\x1b[2J" not in out.getvalue()
        assert "\x1b]0" not in out.getvalue()
        assert "\u202e" not in out.getvalue()


def test_a_long_line_is_not_broken_so_that_it_is_copied_whole() -> None:
    screen, out = terminal()

    screen.show([Line(LONG, "command")])

    assert LONG in out.getvalue()


def test_a_pipe_gets_no_colour_and_no_control() -> None:
    out = io.StringIO()
    screen = PlainScreen(out)

    with screen.working("anything"):
        screen.show([Line("  done", "good")])

    assert out.getvalue() == "  done\n"
    assert screen.control("\x1b]52;c;\x07") is False


def test_while_something_runs_one_line_says_what_and_for_how_long() -> None:
    screen, out = terminal()

    with screen.working("logs.decode: it may decide \x1b[31mPP001"):
        time.sleep(0.2)

    shown = out.getvalue()
    assert "logs.decode: it may decide PP001  0.0 s  (Ctrl-C stops it)" in shown
    assert shown.count("\n") == 1
    assert shown.endswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")


def test_nothing_moves_while_a_person_is_asked() -> None:
    screen, out = terminal()

    with screen.working("http.info"):
        with screen.aside():
            before = out.getvalue()
            time.sleep(0.4)
            assert out.getvalue() == before
        time.sleep(0.3)
        assert out.getvalue() != before


def test_standing_aside_where_nothing_moves_is_nothing() -> None:
    screen, out = terminal()

    with screen.aside():
        pass

    assert out.getvalue() == ""
