"""Changes as commands: the whole new launch with its diff, and the call that changes a running server."""

import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.causes.cause import Change
from ppagent.evidence.facts import Facts
from ppagent.evidence.secret_values import MASK
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.installed import InstalledFlags
from ppagent.sglang.flags.told import flags_told
from ppagent.sglang.launch.change import CannotEdit
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.diff import unified_diff
from ppagent.sglang.launch.edit import edit_launch
from ppagent.sglang.launch.others import other_commands
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.sglang.legality.check import check
from ppagent.sglang.legality.problem import Problem
from ppagent.sglang.versions import at_least, parse_version

MOST_NAMED = 3


@dataclass(frozen=True)
class Installed:
    """What a command has to fit: the installed version, its flags, and how the server was launched."""

    version: str
    flags: InstalledFlags | None
    launch: LaunchCommand | None
    layers: int | None
    architectures: tuple[str, ...]
    gpu: str | None
    base_url: str
    key_variable: str = ""
    """The environment variable whose key a live change needs; empty where the server asks for none."""
    contradicted: tuple[str, ...] = ()
    """Where the launch text does not fit the server that runs, in words."""
    cites: tuple[str, ...] = ()
    """Evidence of the flags, where they were read in the installed source or their version is between releases."""

    @property
    def catalogue(self) -> Catalogue | None:
        """The flags that the installation takes."""
        return self.flags.catalogue if self.flags is not None else None

    @property
    def words(self) -> str:
        """What it is called in a sentence: between releases together with the one whose flags are taken for its own."""
        nearest = self.flags.differences.release if self.flags is not None and not self.flags.from_source else ""
        version = parse_version(self.version)
        if not nearest or version is None or version.public == nearest:
            return f"SGLang {self.version}"
        return f"SGLang {self.version} (by the flags of {nearest})"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why the flags may be others than these, as clauses."""
        return tuple(sentence.rstrip(".") for sentence in self.flags.says) if self.flags is not None else ()

    def differs(self, spellings: Iterable[str]) -> str:
        """How the installed flags depart from the published version's in any of these; empty where they do not."""
        return self.flags.differs(spellings) if self.flags is not None else ""

    @classmethod
    def of(cls, facts: Facts) -> "Installed":
        """As far as the facts tell. Without a version nothing can be checked; the newest spellings are kept."""
        stated = str(parse_version(facts.text("engine.version") or "") or "")
        flags = flags_told(facts)
        version = str(parse_version(flags.version) or stated) if flags is not None and flags.from_source else stated
        layers = facts.number("model.num_hidden_layers")
        names = [str(name) for name in facts.table("gpu.names").values()]
        return cls(
            version=version,
            flags=flags,
            launch=launch_of(facts.text("launch.command"), flags.catalogue if flags is not None else None),
            layers=int(layers) if layers else None,
            architectures=tuple(str(a) for a in facts.items("model.architectures")),
            gpu=names[0] if names else facts.text("stated.gpu_model"),
            base_url=f"http://{_reachable(facts.arg_text('host'))}:{facts.arg_number('port') or 30000:.0f}",
            key_variable=_key_variable(facts),
            contradicted=_contradicted(facts),
            cites=facts.cite("source.flags") if flags is not None else (),
        )


@dataclass(frozen=True)
class Relaunch:
    """The whole new command, its difference from the old one, why this version would refuse it, if so, what the same
    text runs beside the server, and why it would refuse the old one just as well."""

    command: str
    diff: str
    refused: str = ""
    beside: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    refused_already: str = ""

    @property
    def risks(self) -> tuple[str, ...]:
        """What whoever runs the command has to know about its text."""
        other = f"this launch text is not what runs: {', '.join(self.contradicted)}" if self.contradicted else ""
        return tuple(risk for risk in (self._refused_already, self._masked, other, self._more) if risk)

    @property
    def _refused_already(self) -> str:
        if not self.refused_already:
            return ""
        return (
            "the launch text is refused as it stands, with the change and without it, so mend that first: "
            f"{self.refused_already.rstrip('.')}"
        )

    @property
    def _masked(self) -> str:
        if MASK not in self.command:
            return ""
        return f"{MASK} stands where a secret was left out: put your own back before you run it, or clients lose access"

    @property
    def _more(self) -> str:
        if not self.beside:
            return ""
        named = ", ".join(f"`{command}`" for command in self.beside[:MOST_NAMED])
        more = f" and {len(self.beside) - MOST_NAMED} more" if len(self.beside) > MOST_NAMED else ""
        return f"the launch text runs more than the server, and so does the new one: {named}{more}"


def _key_variable(facts: Facts) -> str:
    """A live change wants the admin key where the server has one, else the key of every request."""
    if facts.arg("admin_api_key") is not None:
        return "SGLANG_ADMIN_API_KEY"
    return "SGLANG_API_KEY" if facts.arg("api_key") is not None else ""


def _contradicted(facts: Facts) -> tuple[str, ...]:
    """Sizes that the launch text asks for and the running server does not have. Nothing else changes them, so the text
    is another server's, or an older one."""
    found = []
    for field in ("tp_size", "pp_size", "nnodes"):
        asked, runs = facts.number(f"launch.{field}"), facts.number(f"args.{field}")
        if asked is not None and runs is not None and asked != runs:
            found.append(f"{field} {asked:g} in the text, {runs:g} in the server")
    return tuple(found)


def _reachable(host: str | None) -> str:
    """An address to call from the server's own machine: one to listen on is none to call, and neither is one that
    holds anything but an address, since it becomes part of a shell command."""
    if host is None or host in ("0.0.0.0", "::") or not re.fullmatch(r"[A-Za-z0-9.:_-]+", host):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def launch_of(text: str | None, catalogue: Catalogue | None) -> LaunchCommand | None:
    """The launch command in a text; None where there is none."""
    if not text:
        return None
    try:
        return parse_launch(text, catalogue)
    except NoLaunchCommand:
        return None


def relaunch_command(change: Change, installed: Installed) -> Relaunch:
    """The user's own command with `change` made in it; the bare change where the command is not known."""
    if installed.launch is None:
        return Relaunch("", _bare_diff(change))
    try:
        command = edit_launch(installed.launch, change, installed.catalogue)
    except CannotEdit:
        return Relaunch("", _bare_diff(change))
    diff = unified_diff(installed.launch.text, command)
    beside = other_commands(installed.launch)
    new, kept = _refusals_of(command, installed)
    return Relaunch(command, diff, new, beside, installed.contradicted, kept)


def _refusals_of(command: str, installed: Installed) -> tuple[str, str]:
    """Why the new launch would be refused: for what the change brings, and for what the old text has already; each
    empty where it would not."""
    if installed.catalogue is None or installed.launch is None:
        return "", ""
    old = {problem.says for problem in refusals(installed.launch, installed)}
    found = [problem.says for problem in refusals(parse_launch(command, installed.catalogue), installed)]
    new = next((says for says in found if says not in old), "")
    return new, next((says for says in found if says in old), "")


def refusals(launch: LaunchCommand, installed: Installed) -> list[Problem]:
    """Why the installed version would refuse a launch that was read with its flags; empty where it would not."""
    problems = check(
        launch,
        installed.version,
        installed.catalogue,
        model_architectures=installed.architectures,
        num_layers=installed.layers,
        gpu=installed.gpu,
    )
    return [problem for problem in problems if problem.kind == "refused"]


def _bare_diff(change: Change) -> str:
    """The change line by line, for a launch whose text is not known."""
    lines = [f"- {flag}" for flag in change.unset]
    lines += [f"+ {flag}" if value == "true" else f"+ {flag} {value}" for flag, value in change.set.items()]
    lines += [f"+ {name}={value}" for name, value in change.env.items()]
    return "\n".join(lines)


def live_command(change: Change, installed: Installed) -> str:
    """The call that sets the slot limit on the running server, followed by the one that reads it back.

    The answer alone proves nothing: up to 0.5.14 SGLang says true even where it refused
    (scheduler.set_internal_state). The key is the flag's field: max_micro_batch_size up to 0.5.3.
    """
    older = installed.catalogue is not None and "--pp-max-micro-batch-size" not in installed.catalogue.by_spelling
    key = "max_micro_batch_size" if older else "pp_max_micro_batch_size"
    value = next(iter(change.set.values()))
    body = json.dumps({"server_args": {key: int(value)}})
    variable = installed.key_variable
    bearer = f'-H "Authorization: Bearer ${variable}" ' if variable else ""
    info = "get_server_info" if at_least(parse_version(installed.version), "0.5.6") is False else "server_info"
    return (
        f"curl -s -X POST {installed.base_url}/set_internal_state {bearer}"
        f"-H 'Content-Type: application/json' -d {shlex.quote(body)}\n"
        f"curl -s {bearer}{installed.base_url}/{info} | grep -o '\"{key}\":[0-9]*'"
    )
