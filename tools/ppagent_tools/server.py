"""What was asked for and what runs: the launch command, the version, the model."""

import re
import shlex
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, Tool, ToolContext
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.launch.command import LaunchCommand, parse_launch
from ppagent.sglang.launch.options import Option
from ppagent.sglang.launch.site import NoLaunchCommand
from ppagent.targets.target import Artifact
from ppagent_tools.important import ALWAYS, WHERE_SET
from ppagent_tools.installed import ServerVersion
from ppagent_tools.processes import read_processes, server_processes
from ppagent_tools.reading import (
    Document,
    as_fact,
    clusters,
    document,
    json_object,
    json_spans,
    line_with,
    on_each_host,
)
from ppagent_tools.source_flags import flags_of

Facts = dict[str, FactValue]

MOST_OPTIONS = 1000
_FORMS = {"yaml": "kubernetes"}
_MODEL_FIELDS = (
    "architectures", "model_type", "num_hidden_layers", "hidden_size", "vocab_size", "n_routed_experts", "num_experts",
    "num_experts_per_tok", "num_attention_heads", "num_key_value_heads", "kv_lora_rank", "max_position_embeddings",
    "first_k_dense_replace", "num_nextn_predict_layers", "tie_word_embeddings", "torch_dtype", "quantization_config",
)  # fmt: skip


class Launch:
    name = "server.launch"
    summary = (
        "The launch command as it ran, read with the flags of the installed version: arguments asked for, environment "
        "assignments, options that this version does not know or cannot tell apart."
    )
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("launch.", "env.")
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: _launch(context, host))


class Model:
    name = "server.model"
    summary = "The model's config.json: architecture, layers, heads, experts, vocabulary, quantisation."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("model.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: (_model(document(context, host, Artifact.MODEL_CONFIG)),))


def tools() -> tuple[Tool, ...]:
    return (Launch(), ServerVersion(), Model())


def _launch(context: ToolContext, host: str) -> list[Finding]:
    found, text, env = _launch_text(context, host)
    try:
        command = parse_launch(text, _catalogue(context, host))
    except NoLaunchCommand as error:
        raise found.error(error.wrong) from error
    if len(command.options) > MOST_OPTIONS:
        raise found.error(f"it has {len(command.options)} options, more than SGLang has flags")
    findings = [found.finding(_command_facts(command), _first_words(found, command))]
    asked: Facts = {f"launch.{name}": as_fact(value) for name, value in command.args.items()}
    for excerpt, names in _quoted(found, command.options):
        facts = {f"launch.{name}": asked.pop(f"launch.{name}") for name in names if f"launch.{name}" in asked}
        if facts:
            findings.append(found.finding(facts, excerpt))
    variables: Facts = {f"env.{name}": value for name, value in {**env, **command.env}.items()}
    if variables:
        findings.append(found.finding(variables, _first_assignment(found, command, env), authority=2 if env else 1))
    if asked:
        findings.append(found.finding(asked, _first_words(found, command)))
    return findings


def _launch_text(context: ToolContext, host: str) -> tuple[Document, str, dict[str, str]]:
    """The text that holds the launch, and the environment of the process where the launch is taken from one."""
    try:
        found = document(context, host, Artifact.LAUNCH)
    except NotRecorded:
        try:
            found, processes = read_processes(context, host)
        except NotRecorded:
            raise NotRecorded("neither the launch command nor the processes were recorded") from None
        launchers = [process for process in server_processes(processes) if process.launches]
        if not launchers:
            raise found.error("no process of an SGLang server is in it") from None
        return found, shlex.join(launchers[0].cmdline), launchers[0].env
    return found, found.text, {}


def _catalogue(context: ToolContext, host: str) -> Catalogue | None:
    """The flags of the installation; None where its version is unknown or older than pipelines."""
    found = flags_of(context, host)
    return found.catalogue if found is not None else None


def _command_facts(command: LaunchCommand) -> Facts:
    facts: Facts = {
        "launch.command": command.text.strip(),
        "launch.form": _FORMS.get(command.site.form, command.site.form),
    }
    if untold := _untold(command):
        facts["launch.untold"] = untold
    if command.unknown:
        facts["launch.unknown"] = [option.written for option in command.unknown]
    if command.ambiguous:
        facts["launch.ambiguous"] = [option.written for option in command.ambiguous]
    return facts


def _untold(command: LaunchCommand) -> list[FactValue]:
    """What stands for more options than the text tells: variables, a continued line without the next one, and a list
    of options that starts no server, since none does without a model."""
    words: list[FactValue] = list(command.untold)
    if command.text.rstrip().endswith("\\"):
        words.append("\\")
    if not command.program and not command.site.prefix and not {"model_path", "config"} & set(command.args):
        words.append("...")
    return words


def _first_words(found: Document, command: LaunchCommand) -> str:
    """The beginning of the command as it stands, from its program on."""
    words = (*command.site.program, *command.site.arguments)
    if found.text == command.text and words:
        return found.text[words[0].start : words[-1].end][:400]
    return line_with(found.text, re.escape(command.program[-1])) if command.program else found.text[:400].strip()


def _quoted(found: Document, options: Sequence[Option]) -> list[tuple[str, tuple[str, ...]]]:
    """Pieces of the command that hold the options that matter."""
    spans: dict[str, tuple[int, int]] = {}
    for option in options:
        start, end = option.span
        if option.dest in ALWAYS | WHERE_SET and option.written and found.text.startswith(option.written, start):
            spans[option.dest] = (start, end)
    return clusters(found.text, spans)


def _first_assignment(found: Document, command: LaunchCommand, env: dict[str, str]) -> str:
    names: Iterable[str] = (*command.env, *env)
    name = next((n for n in names if n in found.text), "")
    return line_with(found.text, rf"\b{re.escape(name)}\b") if name else ""


def _model(found: Document) -> Finding:
    """The top-level fields, with those of text_config where the model wraps one."""
    config = json_object(found)
    inner = config.get("text_config")
    merged = {**(inner if isinstance(inner, dict) else {}), **config}
    facts: Facts = {
        f"model.{name}": as_fact(value)
        for name, value in merged.items()
        if name not in ("text_config", "vision_config", "audio_config") and re.fullmatch(r"\w+", name)
    }
    if not facts:
        raise found.error("it names nothing of a model", 1)
    pieces = clusters(found.text, json_spans(found.text, _MODEL_FIELDS))
    layers = [excerpt for excerpt, names in pieces if "num_hidden_layers" in names]
    return found.finding(facts, next(iter(layers or [excerpt for excerpt, _ in pieces]), found.text[:400].strip()))
