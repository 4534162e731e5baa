"""A launch command: what a server was started with, read from the user's own text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ppagent.sglang.flags.flag import Catalogue, Flag, FlagValue
from ppagent.sglang.launch.assignments import Assignment
from ppagent.sglang.launch.find import find_launch
from ppagent.sglang.launch.options import Option, read_options, typed_value
from ppagent.sglang.launch.site import Site
from ppagent.sglang.launch.spelling import canonical_dest
from ppagent.sglang.launch.words import Word
from ppagent.sglang.versions import at_least, parse_version

_MODEL_PATH = Flag("--model-path", "model_path", aliases=("--model",))
_MODEL_TYPE = Flag("--model-type", "model_type", choices=("auto", "llm", "diffusion"))


@dataclass(frozen=True)
class LaunchCommand:
    """One SGLang launch. `args` is what argparse makes of it: server-args field to value, given flags only."""

    text: str
    env: Mapping[str, str]
    program: tuple[str, ...]
    options: tuple[Option, ...]
    """Every option in the order written, unknown and ambiguous ones included."""
    positionals: tuple[str, ...]
    """Words the parser has no use for, and refuses."""
    args: Mapping[str, FlagValue]
    site: Site = field(repr=False)
    untold: tuple[str, ...] = ()
    """Words that are variables or substitutions of whose content the text says nothing: there may be more options."""

    @property
    def unknown(self) -> tuple[Option, ...]:
        """Options that this version does not have."""
        return tuple(option for option in self.options if not option.known and not option.ambiguous)

    @property
    def ambiguous(self) -> tuple[Option, ...]:
        """Abbreviations that fit several flags of this version."""
        return tuple(option for option in self.options if option.ambiguous)

    def option(self, name: str) -> Option | None:
        """The option that decides a field, given by any spelling of its flag; None where it was not given."""
        dest = canonical_dest(name)
        return next((option for option in reversed(self.options) if option.known and option.dest == dest), None)


def parse_launch(text: str, catalogue: Catalogue | None) -> LaunchCommand:
    """The launch command in `text`: shell, script, docker run, systemd unit, Kubernetes or compose YAML.

    Without a catalogue flags are read by spelling: what follows an option is its value, numbers are guessed.
    Raises NoLaunchCommand where the text starts no SGLang server.
    """
    site = find_launch(text)
    positional, words = _positional_model(site, catalogue)
    options, loose = read_options(words, _with_serve_flags(site, catalogue))
    options = (*positional, *options)
    return LaunchCommand(
        text=text,
        env=_environment(site.assignments),
        program=tuple(word.value for word in site.program),
        options=options,
        positionals=tuple(word.value for word in loose if not word.opaque),
        untold=tuple(word.value for word in loose if word.opaque),
        args=arguments_of(options),
        site=site,
    )


def _positional_model(site: Site, catalogue: Catalogue | None) -> tuple[tuple[Option, ...], tuple[Word, ...]]:
    """`sglang serve MODEL` stands for `--model-path MODEL` from 0.5.16 (`cli/serve.py`)."""
    words = site.arguments
    if not _serves(site) or not words or words[0].value.startswith("-"):
        return (), words
    if catalogue is not None and at_least(parse_version(catalogue.version), "0.5.16") is False:
        return (), words
    model = Option(words[0], "", "model_path", (words[0].value,), words[:1], "--model-path", _MODEL_PATH)
    return (model,), words[1:]


def _with_serve_flags(site: Site, catalogue: Catalogue | None) -> Catalogue | None:
    """`sglang serve` takes --model-type itself, from 0.5.10 (`cli/serve.py`)."""
    if catalogue is None or not _serves(site) or at_least(parse_version(catalogue.version), "0.5.10") is False:
        return catalogue
    return Catalogue(catalogue.version, (*catalogue.flags, _MODEL_TYPE), catalogue.origin, catalogue.unread)


def _serves(site: Site) -> bool:
    return bool(site.program) and site.program[-1].value == "serve"


def _environment(assignments: tuple[Assignment, ...]) -> dict[str, str]:
    env: dict[str, str] = {}
    for assignment in assignments:
        passed_on = assignment.opaque and assignment.value == f"${assignment.name}"
        if not (passed_on and assignment.name in env):
            env[assignment.name] = assignment.value
    return env


def arguments_of(options: Iterable[Option]) -> dict[str, FlagValue]:
    """Server-args field to value, the last of several counting; unknown and ambiguous options set nothing."""
    args: dict[str, FlagValue] = {}
    for option in options:
        if option.known:
            args[option.dest] = typed_value(option, args.get(option.dest))
    return args
