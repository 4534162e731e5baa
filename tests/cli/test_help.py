"""`ppagent COMMAND --help`: nothing is left for the reader to guess."""

import argparse
from importlib import import_module

import pytest

from ppagent.cli.main import COMMANDS


def options_of(command: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser()
    import_module(COMMANDS[command][0]).add_arguments(parser)
    return parser._actions


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_command_has_its_help(command: str) -> None:
    bare = [action.option_strings or action.dest for action in options_of(command) if not action.help]
    assert bare == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_grade_is_never_left_a_bare_number(command: str) -> None:
    """Whoever is asked for a grade reads in the same help what the number stands for."""
    graded = [action for action in options_of(command) if set(action.option_strings) & {"--yes", "--ceiling"}]
    told = f"{import_module(COMMANDS[command][0]).HELP} {' '.join(str(action.help) for action in graded)}"
    assert not graded or any(word in told for word in ("disturb", "load", "restart", "change"))
