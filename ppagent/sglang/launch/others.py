"""What a launch text runs beside the server: who takes the new command over takes that over as well."""

from ppagent.sglang.launch.command import LaunchCommand
from ppagent.sglang.launch.regions import whole
from ppagent.sglang.launch.shell import assignment_name, commands
from ppagent.sglang.launch.words import Word

PREPARES = frozenset(
    "export declare local readonly cd pushd source . set unset ulimit conda module shopt true : wait".split()  # noqa: SIM905
)
"""Commands that only make ready for what follows."""
LONGEST_SHOWN = 60


def other_commands(launch: LaunchCommand) -> tuple[str, ...]:
    """The commands of a shell text that neither are the server nor make ready for it, each once, cut short."""
    if launch.site.form not in ("shell", "docker"):
        return ()
    server = [word.start for word in (*launch.site.program, *launch.site.arguments)]
    if not server:
        return ()
    others = (words for words in commands(whole(launch.text), {}) if not _holds(words, server[0]))
    shown = (" ".join(word.value for word in words)[:LONGEST_SHOWN] for words in others if not _prepares(words))
    return tuple(dict.fromkeys(shown))


def _holds(words: tuple[Word, ...], place: int) -> bool:
    return words[0].start <= place < words[-1].end


def _prepares(words: tuple[Word, ...]) -> bool:
    return words[0].value in PREPARES or all(assignment_name(word.value) for word in words)
