"""Which SGLang is installed, by every artifact that says so."""

import re
from collections.abc import Sequence

from pydantic import BaseModel

from ppagent.errors import NotRecorded, ToolError
from ppagent.evidence.evidence import FactValue, Finding
from ppagent.plugins import Grade, NoArguments, ToolContext
from ppagent.sglang.flags.fingerprint import versions_with
from ppagent.sglang.versions import parse_version
from ppagent.targets.target import Artifact
from ppagent_tools.log_reading import read_logs
from ppagent_tools.reading import Document, document, json_object, json_spans, on_each_host

_SGLANG = re.compile(r"(?im)^sglang(?:==|\s+@\s+\S*?sglang-|\s+)v?(?P<version>\d[\w.+!]*)")

_IMAGE = re.compile(r"(?<![\w-])sglang:v?(?P<version>\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)(?![\w.]*\w/)")


class ServerVersion:
    name = "server.version"
    summary = "SGLang's version, from the package, the running server, the packages, or the settings in its log."
    grade = Grade.READ_HOST
    provides: tuple[str, ...] = ("engine.",)
    arguments: type[BaseModel] = NoArguments

    def run(self, context: ToolContext, arguments: BaseModel) -> Sequence[Finding]:
        return on_each_host(context, lambda host: versions(context, host))


def versions(context: ToolContext, host: str) -> list[Finding]:
    """Every statement of the version on a host, the one that counts last; an artifact that is broken stands back where
    another one answers. Where nothing states it, the settings that the log names tell. Raises NotRecorded where
    there is none."""
    findings: list[Finding] = []
    broken: list[ToolError] = []
    for read in (_packaged, _version_file, _answered, _imaged):
        try:
            findings.append(read(context, host))
        except NotRecorded:
            continue
        except ToolError as error:
            broken.append(error)
    findings = findings or _by_settings(context, host)
    if not findings:
        raise broken[0] if broken else NotRecorded("SGLang's version was not recorded")
    return findings


def _packaged(context: ToolContext, host: str) -> Finding:
    found = document(context, host, Artifact.PACKAGES)
    match = _SGLANG.search(found.text)
    if match is None:
        raise NotRecorded("sglang is not among the packages recorded")
    return _version(found, match["version"], match.group(), "packages", 2)


def _version_file(context: ToolContext, host: str) -> Finding:
    found = document(context, host, Artifact.VERSION)
    line = found.text.strip().splitlines()[0].strip()
    if parse_version(line) is None:
        raise found.error(f"{line[:40]!r} is no version", 1)
    return _version(found, re.sub(r"^(?:sglang[ =]*)?v?", "", line), line, "installed package", 2)


def _answered(context: ToolContext, host: str) -> Finding:
    found = document(context, host, Artifact.SERVER_INFO)
    spans = json_spans(found.text, ("version",))
    version = json_object(found).get("version")
    if not isinstance(version, str) or parse_version(version) is None:
        raise NotRecorded("the server does not say its version")
    return _version(found, version, found.text[slice(*spans["version"])] if spans else "", "/server_info", 3)


def _imaged(context: ToolContext, host: str) -> Finding:
    """The tag of SGLang's own image in the launch; what is installed in a container may have been changed since."""
    found = document(context, host, Artifact.LAUNCH)
    match = _IMAGE.search(found.text)
    if match is None:
        raise NotRecorded("the launch names no image with a version")
    return _version(found, match["version"], match.group(), "image tag", 2)


def _by_settings(context: ToolContext, host: str) -> list[Finding]:
    """The version by the names of the settings that the host's log prints at its start; of several versions with the
    same settings the oldest."""
    try:
        log = next((each for each in read_logs(context) if each.host == host), None)
    except ToolError:  # whoever reads the log says why it cannot be read
        return []
    args = log.stretch.startup.args if log is not None else None
    alike = versions_with(args.values) if args is not None and args.complete else ()
    if log is None or not alike:
        return []
    facts: dict[str, FactValue] = {"engine.version": alike[0], "engine.source": "settings in the log"}
    return [log.finding({**facts, "engine.alike": list(alike)}, log.tap.line("args")[:400])]


def _version(found: Document, version: str, excerpt: str, source: str, authority: int) -> Finding:
    return found.finding({"engine.version": version, "engine.source": source}, excerpt, authority=authority)
