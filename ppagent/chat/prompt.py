"""The line that the person types: history over sessions, completion in the manner of a shell, no menu that repaints."""

import os
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import Completer
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.shortcuts import CompleteStyle

from ppagent.chat.home import state_home
from ppagent.chat.keys import drop_typed
from ppagent.evidence.masking import mask

PROMPT = "> "


class MaskedHistory(FileHistory):
    """Lines of earlier sessions, in a file that only its owner can read, secrets masked."""

    def store_string(self, string: str) -> None:
        super().store_string(mask(string))


def history_file() -> Path:
    """The file, made where it is missing."""
    path = state_home() / "history"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    return path


def _forget_typed(keyboard: Input) -> None:
    """Keys that wait in the terminal, and those that an earlier prompt has read too many."""
    drop_typed()
    clear_typeahead(keyboard)


class Prompt:
    """Asks the person. Raises EOFError on Ctrl-D and KeyboardInterrupt on Ctrl-C."""

    def __init__(self, completer: Completer | None = None, history: Path | None = None) -> None:
        self._lines: PromptSession[str] = PromptSession(
            history=MaskedHistory(str(history or history_file())),
            completer=completer,
            complete_style=CompleteStyle.READLINE_LIKE,
            complete_while_typing=False,
            reserve_space_for_menu=0,
        )
        self._answers: PromptSession[str] = PromptSession(reserve_space_for_menu=0)

    def read(self) -> str:
        """A message or a command."""
        return self._lines.prompt(PROMPT)

    def ask(self, question: str) -> str:
        """An answer, which goes into no history. What was typed before the question stood there answers nothing."""
        _forget_typed(self._answers.app.input)
        return self._answers.prompt(question)
