"""Changes a launch command the way its owner would: only the words that have to change, in the text as it is."""

from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.launch.change import (
    CannotEdit,
    Change,
    flag_named,
    intended_args,
    is_of,
    sets_same,
    wanted,
)
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.diff import unified_diff
from ppagent.sglang.launch.edit_env import set_variable
from ppagent.sglang.launch.options import Option
from ppagent.sglang.launch.splice import cut_words, inline, replace_words, respell, splice
from ppagent.sglang.launch.words import Word

__all__ = ["Change", "edit_launch", "intended_args", "unified_diff"]


def edit_launch(command: LaunchCommand, change: Change, catalogue: Catalogue | None) -> str:
    """The user's own text with the change made: order, quoting, comments and environment kept.

    The result is read again and must give exactly the intended arguments; raises CannotEdit where it does not.
    """
    text = command.text
    for name in change.unset:
        text = _unset(parse_launch(text, catalogue), name, catalogue)
    for name, value in change.set.items():
        text = _set(parse_launch(text, catalogue), name, value, catalogue)
    for name, value in change.env.items():
        text = set_variable(parse_launch(text, catalogue), name, value)
    result = parse_launch(text, catalogue)
    if dict(result.args) != intended_args(command, change, catalogue):
        raise CannotEdit("the edited command would not read back as intended")
    if dict(result.env) != {**command.env, **change.env}:
        raise CannotEdit("the environment would not read back as intended")
    return text


def _unset(command: LaunchCommand, name: str, catalogue: Catalogue | None) -> str:
    flag = flag_named(name, catalogue)
    text = command.text
    for option in reversed(command.options):
        if is_of(option, name, flag):
            text = cut_words(text, _own_words(option))
    return text


def _own_words(option: Option) -> tuple[Word, ...]:
    words = (option.word, *option.value_words) if option.written else option.value_words
    if any(word.shared for word in words):
        raise CannotEdit(f"{option.written or 'the model path'} stands in a variable with other options")
    return words


def _set(command: LaunchCommand, name: str, value: str, catalogue: Catalogue | None) -> str:
    flag = flag_named(name, catalogue)
    spelling, values = wanted(name, value, flag, command)
    present = [option for option in command.options if sets_same(option, name, flag)]
    if not spelling:
        return _unset(command, name, catalogue)
    if flag is not None and flag.action == "append" and present:
        emptied = parse_launch(_unset(command, name, catalogue), catalogue)
        return _append(emptied, spelling, values)
    if not present or any(word.shared for word in (present[-1].word, *present[-1].value_words)):
        return _append(command, spelling, values)
    return _rewrite(command, present[-1], flag, spelling, values)


def _rewrite(command: LaunchCommand, option: Option, flag: Flag | None, spelling: str, values: tuple[str, ...]) -> str:
    """The last option of the field with its new value, in the spelling it has where that one still fits."""
    text = command.text
    same = option.known and option.flag == flag and (bool(values) or option.spelling in ("", spelling))
    if same and option.values == values:
        return text
    if not same or not option.values:
        return replace_words(text, _own_words(option), (spelling, *values))
    if not option.inline:
        return replace_words(text, option.value_words, values)
    if len(values) > 1:
        return replace_words(text, (option.word,), (option.written, *values))
    return _rewrite_inline(text, option, values[0])


def _rewrite_inline(text: str, option: Option, value: str) -> str:
    word = option.word
    raw = text[word.start : word.end]
    if not raw.startswith(f"{option.written}="):
        return replace_words(text, (word,), (f"{option.written}={value}",))
    at = word.start + len(option.written) + 1
    return splice(text, at, word.end, respell(text[at : word.end], value, word.writer))


def _append(command: LaunchCommand, spelling: str, values: tuple[str, ...]) -> str:
    """The option behind the last of SGLang's own words, spaced and quoted like the options before it."""
    text, site = command.text, command.site
    row = (*site.program, *site.arguments)
    last = row[-1]
    gap = last.writer.between(text, 0, 0)
    name_writer = value_writer = last.writer
    valued = [option for option in command.options if option.values and option.written]
    if command.options and command.options[-1].written:
        word = command.options[-1].word
        before = max((w.end for w in row if w.end <= word.start), default=0)
        gap = last.writer.between(text, before, word.start)
        name_writer = word.writer if type(word.writer) is type(last.writer) else last.writer
    if valued and valued[-1].inline and len(values) == 1:
        return splice(text, last.end, last.end, gap + inline(spelling, values[0], name_writer))
    if valued and valued[-1].value_words and type(valued[-1].value_words[-1].writer) is type(last.writer):
        value_writer = valued[-1].value_words[-1].writer
    words = [name_writer.spell(spelling), *(value_writer.spell(value) for value in values)]
    inside = last.writer.between(text, 0, 0)
    return splice(text, last.end, last.end, gap + inside.join(words))
