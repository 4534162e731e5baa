"""Whether a server's container can be exchanged for one of the same settings, and what is done or is to be done."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ppagent.evidence.masking import mask
from ppagent.ledger import new_id
from ppagent.trials import container_options as options
from ppagent.trials.container import ContainerMachine, Copy
from ppagent.trials.container_changes import MOST_SHOWN, lost_by_a_new_one
from ppagent.trials.container_shown import shown_in
from ppagent.trials.container_words import exchanged
from ppagent.trials.docker_options import docker_options
from ppagent.trials.launches import NewLaunch
from ppagent.trials.machine import Keeper, Launched
from ppagent.trials.podman_options import podman_options

if TYPE_CHECKING:
    from ppagent.targets.remote.link import Link
    from ppagent.targets.remote.servers import Server

ASK_S = 30.0
DIFF_S = 120.0
STOP_S = 60
Prepare = Callable[[], tuple[Keeper, Launched]]
Told = tuple[tuple[str, ...], str, Prepare | None]
"""Lines of the plan, why it is to be done by hand (empty where it is not), and what prepares it."""


class _Refused(Exception):
    """Why a container is not exchanged."""


def container_way(link: "Link", server: "Server", launch: NewLaunch) -> Told:
    """How the container of a server is exchanged, or the commands and why they are to be run by hand."""
    if "kubepods" in server.launcher.groups:
        return _of_a_pod(launch), f"it runs in container {server.container[:12]} of a Kubernetes pod", None
    program = server.engine
    if not program or server.keeps_for_another:
        why = server.kept_by if program else "no docker or podman keeps its container"
        return _by_hand(program or "docker", server.container, "IMAGE", launch, ""), why, None
    image, owner = "IMAGE", ""
    try:
        shown = _inspected(link, program, "container", server.container)
        image, owner = str(shown["Config"]["Image"]), options.owner_of(shown)
        machine = _machine(link, program, server, launch, shown)
    except _Refused as refused:
        why = f"it runs in container {server.container[:12]}, whose command cannot be changed, and {mask(str(refused))}"
        caller = f"sudo {program}" if "permission denied" in why.lower() else program
        return _by_hand(caller, server.container, image, launch, owner), why, None

    def prepare() -> tuple[Keeper, Launched]:
        return machine, machine.prepare()

    return _plan(machine), "", prepare


def _machine(link: "Link", program: str, server: "Server", launch: NewLaunch, shown: options.Shown) -> ContainerMachine:
    """What exchanges a container. Raises _Refused with every reason why it is not to be."""
    image = _inspected(link, program, "image", str(shown["Image"]))
    told = docker_options(shown, image) if program == "docker" else podman_options(shown)
    command = exchanged(options.command_of(shown), server.launcher.cmdline, launch.argv)
    env, odd = options.variables_of(shown)
    odd = odd or options.refused_variable(launch.env.items())
    policy = options.policy_of(shown)
    reasons = [
        options.owner_of(shown),
        "it was made with --rm, so stopping it removes it" if shown["HostConfig"].get("AutoRemove") else "",
        "its command is not the server's word for word (a script, or variables)" if command is None else "",
        f"these settings cannot be carried over: {', '.join(told.refused)}" if told.refused else "",
        f"this cannot be carried over: {odd}" if odd else "",
        options.told_openly(told.words),
        _policy_trouble(link, program, policy),
        _lost(link, program, shown),
    ]
    if command is None or any(reasons):
        raise _Refused("; ".join(filter(None, reasons)))
    entrypoint, rest = options.entrypoint_and_rest(command, image)
    name = str(shown["Name"]).removeprefix("/")
    tag = _tag(link, program, shown)
    copy = Copy((*told.words, *entrypoint), {**env, **launch.env}, tag, rest, launch.env)
    return ContainerMachine(link, program, str(shown["Id"]), name, policy, new_id(), copy)


def _inspected(link: "Link", program: str, kind: str, name: str) -> dict[str, Any]:
    """What the engine shows. Raises _Refused where it does not."""
    from ppagent.targets.remote.link import run

    ran = run(link, [program, "inspect", "--type", kind, name], timeout_s=ASK_S)
    if not ran.ok:
        raise _Refused(f"{program} does not tell how it was made: {ran.complaint}")
    try:
        return shown_in(ran.stdout, kind)
    except ValueError as error:
        raise _Refused(f"{program} does not tell how it was made: {error}") from error


def _tag(link: "Link", program: str, shown: options.Shown) -> str:
    """The image by its name where that still means the same one, else by its id."""
    name = str(shown["Config"]["Image"])
    try:
        same = _inspected(link, program, "image", name)["Id"] == shown["Image"]
    except _Refused:
        same = False
    return name if same else str(shown["Image"])


def _policy_trouble(link: "Link", program: str, policy: str) -> str:
    """Only an engine that changes a restart policy can keep two containers from being started at once."""
    from ppagent.targets.remote.link import run

    if program == "docker" or policy == "no":
        return ""
    knows = "--restart" in run(link, [program, "update", "--help"], timeout_s=ASK_S).text
    return "" if knows else f"this podman cannot change its restart policy ({policy})"


def _lost(link: "Link", program: str, shown: options.Shown) -> str:
    from ppagent.targets.remote.link import run

    ran = run(link, [program, "diff", str(shown["Id"])], timeout_s=DIFF_S)
    if not ran.ok:
        return f"what was changed in it cannot be told: {ran.complaint}"
    mounted = [str(mount["Destination"]) for mount in shown.get("Mounts") or ()]
    made = [str(shown["Config"].get("WorkingDir") or "/")]  # by the engine, where the image has none
    lost = lost_by_a_new_one(ran.text, [*mounted, *made, *(shown["HostConfig"].get("Tmpfs") or {})])
    more = f" and {len(lost) - MOST_SHOWN} more" if len(lost) > MOST_SHOWN else ""
    return f"a new one would lack what was changed in it: {', '.join(lost[:MOST_SHOWN])}{more}" if lost else ""


def _plan(machine: ContainerMachine) -> tuple[str, ...]:
    program, name, aside, copy = machine.program, machine.name, machine.put_aside, machine.copy
    if copy is None:
        raise AssertionError("the new container was told of")
    # Of those that are stopped when the machine goes down, an engine starts none but these.
    again = ", which a reboot in the middle does too" if machine.policy == "always" else ""
    takes = f", and {name} takes over its restart policy ({machine.policy})" if machine.policy != "no" else ""
    made = shlex.join([*copy.options, copy.image, *copy.command])
    return (
        f"{program} stop -t {STOP_S} {name} (requests of others are cut), {program} rename {name} {aside}",
        f"{program} create --name {name}, with the settings and the {len(copy.env)} variables of the old one:",
        f"    {made}",
        *(f"    and the variable {variable}={value}" for variable, value in copy.changed.items()),
        f"{program} start {name}",
        "before that the new container is made once, held against the old one setting by setting, and removed",
        f"if the new one does not come up it is removed, and {aside} gets its name back and is started{again}",
        f"where the new launch is kept, the old container stays, stopped, as {aside}{takes}; {program} rm {aside} "
        "removes it",
    )


def _of_a_pod(launch: NewLaunch) -> tuple[str, ...]:
    return (
        "kubectl edit deployment NAME            # or the statefulset or pod that runs it: its command becomes",
        f"    {launch.new}",
        "kubectl rollout undo deployment NAME    # the way back",
    )


def _by_hand(program: str, container: str, image: str, launch: NewLaunch, owner: str) -> tuple[str, ...]:
    short = container[:12]
    if owner.startswith("Compose"):
        return (
            "in the compose file, `command:` of its service becomes:",
            f"    {launch.new}",
            "docker compose up -d SERVICE            # the way back: the old `command:`, and the same",
        )
    return (
        f"{program} inspect {short} > before.json   # how it was made: devices, volumes, ports, variables with keys",
        f"{program} stop -t {STOP_S} {short}",
        f"{program} run OPTIONS {shlex.quote(image)} \\",
        f"    {launch.new}",
        f"{program} rm -f NEW; {program} start {short}   # the way back",
    )
