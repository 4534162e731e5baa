"""One more command on a host: a listed one that only reads, or any other that a person allows, seeing all of it."""

import shlex
from collections.abc import Sequence

from pydantic import BaseModel, Field

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.evidence.json_text import read_json
from ppagent.plugins import Grade, Tool, ToolContext
from ppagent.targets.commanded import Commanded
from ppagent.targets.remote.link import End
from ppagent.targets.target import Artifact
from ppagent_tools.shell_paths import may_read
from ppagent_tools.shell_policy import review

RUN_S = 30.0
MOST_TEXT = 8000


class CommandArguments(BaseModel, extra="forbid"):
    """A command as words. No shell reads them: `|`, `>`, `&&`, `$(...)` and wildcards mean nothing."""

    argv: list[str] = Field(min_length=1, description='the words of the command, for example ["nvidia-smi", "-q"]')
    host: str = Field(default="", description="a host of the target; the first one where it is left out")


class Read:
    name = "shell.read"
    summary = (
        "Runs one listed command that only reads (nvidia-smi -q, lspci, numactl -H, ps, ss, journalctl, cat or grep of "
        "the server's own files ...), given as a list of words, and returns what it writes. What is not listed by "
        "command and option is refused and not run."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("command.",)
    arguments: type[BaseModel] = CommandArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = CommandArguments.model_validate(arguments.model_dump())
        host = _host(context, asked.host)
        if not isinstance(context.target, Commanded):
            return [_recorded(context, host, asked.argv)]
        names_path = any(word.startswith("/") for word in asked.argv[1:])
        places = context.target.places(host) if names_path else ()
        reviewed = review(asked.argv, places)
        if reviewed.refusal:
            raise ToolError(f"not run without a person's word: {reviewed.refusal}")
        _must_lead_nowhere_else(context.target, host, reviewed.paths, places)
        return [_run(context.target, host, asked.argv)]


class AnyCommand:
    name = "shell.run"
    summary = (
        "Runs one command on the host, whatever it is, as a list of words without a shell. It can change anything that "
        "the account may change, so a person must allow each one, and no answer counts for a second command."
    )
    grade = Grade.RESTART
    provides: tuple[str, ...] = ("command.",)
    arguments: type[BaseModel] = CommandArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        asked = CommandArguments.model_validate(arguments.model_dump())
        host = _host(context, asked.host)
        if not isinstance(context.target, Commanded):
            return [_recorded(context, host, asked.argv)]
        return [_run(context.target, host, asked.argv)]


def tools() -> tuple[Tool, ...]:
    return (Read(), AnyCommand())


def _host(context: ToolContext, name: str) -> str:
    """A host of the target. Raises ToolError for any other: hosts are fixed when a target is opened."""
    if name and name not in context.target.hosts:
        raise ToolError(f"{name!r} is no host of this target; it has {', '.join(context.target.hosts)}")
    return name or context.target.hosts[0]


def _must_lead_nowhere_else(target: Commanded, host: str, paths: Sequence[str], places: Sequence[str]) -> None:
    """A link within an allowed place may point out of it. Raises ToolError where one does."""
    if not paths:
        return
    told = target.command(host, ["readlink", "-f", "--", *paths], RUN_S)
    for path in told.text.splitlines():
        why = may_read(path, places, names_only=True)
        if why:
            raise ToolError(f"not run without a person's word: a link leads elsewhere, and {why}")


def _run(target: Commanded, host: str, argv: Sequence[str]) -> Finding:
    ran = target.command(host, argv, RUN_S)
    if ran.end is not End.EXITED and not ran.stdout:
        raise ToolError(f"{shlex.join(argv)} on {host}: {ran.complaint}")
    said = ran.stderr.decode("utf-8", errors="replace")
    return _finding(host, argv, ran.exit, ran.text, said if ran.end is End.EXITED else f"{said}\n{ran.complaint}")


def _recorded(context: ToolContext, host: str, argv: Sequence[str]) -> Finding:
    """The same command as a recording has it."""
    for line in context.target.text(host, Artifact.COMMANDS).splitlines():
        try:
            row = read_json(line)
        except ValueError as error:
            raise ToolError(f"{Artifact.COMMANDS.value} of {host}: no JSON: {error}") from error
        if isinstance(row, dict) and row.get("argv") == list(argv):
            return _finding(host, argv, row.get("exit"), str(row.get("stdout", "")), str(row.get("stderr", "")))
    raise NotRecorded(f"{shlex.join(argv)} was not recorded")


def _finding(host: str, argv: Sequence[str], status: object, output: str, complaint: str) -> Finding:
    facts: dict[str, FactValue] = {
        "command.argv": shlex.join(argv),
        "command.exit": status if isinstance(status, int) else None,
        "command.output": output[:MOST_TEXT],
    }
    if complaint.strip():
        facts["command.complaint"] = complaint[:MOST_TEXT]
    return Finding(Artifact.COMMANDS.value, facts, output[:400].strip(), host, authority=2)
