"""What is installed for a server: asked of its own Python, in one command."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.remote.inside import interpreter, module_paths, run_python
from ppagent.targets.remote.link import End, Link, LinkLost
from ppagent.targets.remote.sections import script
from ppagent.targets.remote.servers import Server, option

INSPECT_S = 30.0


@dataclass(frozen=True)
class Inspection:
    """The installed SGLang and what stands around it."""

    package: str
    """Folder of the sglang package on the host (or in the container)."""
    version: str
    packages: Mapping[str, str]
    torch_cuda: str
    model_config: str
    model_place: str

    def config(self) -> str:
        """The model's config.json. Raises NotRecorded where it was not found."""
        if not self.model_config:
            raise NotRecorded(f"the model's config.json was not found ({self.model_place})")
        return self.model_config


def inspect_server(link: Link, server: Server, who: str) -> Inspection:
    """Asks the server's Python. Raises ToolError where it cannot be run, with what would help."""
    mark = f"@@{secrets.token_hex(8)}"
    question = {**_question(server), "mark": mark}
    ran = run_python(link, server, script("inspect_server.py"), [json.dumps(question)], timeout_s=INSPECT_S)
    _, found, text = ran.text.partition(mark)
    if not found:
        if ran.end is End.LOST:
            raise LinkLost(f"the connection to {link.name} is lost")
        raise ToolError(_failure(server, who, ran.complaint))
    try:
        told = json.loads(text)
    except json.JSONDecodeError as error:
        raise ToolError(f"the server's Python did not finish its answer: {ran.complaint}") from error
    config = told["model_config"]
    tried = ", ".join(config.get("tried", ())) or "the launch command names no model"
    return Inspection(
        told["package"], told["version"], told["packages"], told["torch_cuda"], config["text"], config["path"] or tried
    )


def no_package(server: Server, who: str) -> ToolError:
    """Why no sglang was found by the server's Python, though it runs one: where its variables and its folder may not
    be read, it may be where these lead (PYTHONPATH)."""
    launcher = server.launcher
    if launcher.env_read and launcher.cwd:
        return NotRecorded(f"sglang is not installed for the Python of process {launcher.pid}")
    user = launcher.user or "another user"
    return ToolError(
        f"sglang is not among what {interpreter(server)} has installed, and where else process {launcher.pid} (of "
        f"{user}) takes it from, its PYTHONPATH and its folder, may not be read by {who}; log in as {user}"
    )


def _question(server: Server) -> dict[str, object]:
    launcher = server.launcher
    env, home = launcher.env, launcher.env.get("HOME", "")
    return {
        "cwd": launcher.cwd,
        "paths": module_paths(server),
        "model": _model(launcher.cmdline),
        "revision": option(launcher.cmdline, "--revision"),
        "hub": env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE") or "",
        "hf_home": env.get("HF_HOME", ""),
        "cache": env.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else ""),
    }


def _model(cmdline: tuple[str, ...]) -> str:
    return option(cmdline, "--model-path") or option(cmdline, "--model")


def _failure(server: Server, who: str, complaint: str) -> str:
    where = f"container {server.container[:12]}" if server.container else "the host"
    python = interpreter(server)
    if server.container:
        engine = f"{server.engine} exec {server.container[:12]}" if server.engine else " ".join(server.enter)
        advice = f"`sudo {engine} {python} -m pip freeze` would tell"
    else:
        advice = f"log in as {server.launcher.user}, who runs it" if server.launcher.user not in ("", who) else ""
    said = f"the server's Python ({python} in {where}) cannot be run by {who}: {complaint}"
    return f"{said}; {advice}" if advice else said
