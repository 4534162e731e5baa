"""The line that the person types: history over sessions, completion in the manner of a shell, no menu that repaints."""

import os
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import Completer
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.shortcuts import CompleteStyle

from ppagent.chat.home import state_home
from ppagent.chat.keys import drop_typed
from ppagent.evidence.masking import mask

PROMPT = "> "


class MaskedHistory(FileHistory):
    """Lines of this and of earlier sessions, in a file that only its owner can read, secrets masked."""

    def append_string(self, string: str) -> None:
        super().append_string(mask(string))


class MaskedWhenDone(Processor):
    """The line as it stays on the screen once it is entered: with its secrets masked. While it is typed it is shown as
    it is."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        typed = transformation_input.document.text
        masked = mask(typed) if get_app().is_done else typed
        if masked == typed:
            return Transformation(transformation_input.fragments)
        lines = masked.split("\n")
        at = transformation_input.lineno
        return Transformation([("", lines[at] if at < len(lines) else "")])


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
            input_processors=[MaskedWhenDone()],
            enable_suspend=True,
        )
        self._answers: PromptSession[str] = PromptSession(
            reserve_space_for_menu=0, input_processors=[MaskedWhenDone()], enable_suspend=True
        )

    def read(self) -> str:
        """A message or a command."""
        return self._lines.prompt(PROMPT)

    def ask(self, question: str) -> str:
        """An answer, which goes into no history. What was typed before the question stood there answers nothing."""
        _forget_typed(self._answers.app.input)
        return self._answers.prompt(question)
