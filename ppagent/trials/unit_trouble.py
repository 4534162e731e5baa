"""Why a unit cannot be relaunched by a drop-in."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ppagent.trials.unit import UnitMachine

if TYPE_CHECKING:
    from ppagent.targets.remote.servers import Server

_GREP = "IFS='\n'; grep -lE -e \"$1\" -- $2 2>/dev/null"
"""Not quoted: a name may be a pattern."""


def unit_trouble(machine: UnitMachine, server: "Server", env: Mapping[str, str]) -> str:
    """Why a unit cannot be relaunched by a drop-in; empty where it can: only where its ExecStart is, word for word,
    what runs, so that changing the one changes the other. `env`: variables of the new launch."""
    if not machine.user and machine.uid != 0:
        return "its unit belongs to the system, which takes root: log in as root, or do it by hand"
    shown, cmdline = machine.shown(), " ".join(server.launcher.cmdline)
    if shown.get("MainPID") != str(server.launcher.pid):
        return "its unit starts it through another program, which has to be changed itself"
    if shown.get("Type") not in ("simple", "exec"):
        return f"its unit is of type {shown.get('Type')}, which is started another way"
    if f"argv[]={cmdline} ;" not in shown.get("ExecStart", ""):
        return "the ExecStart= of its unit is not what runs word for word (variables, or a script)"
    if shown.get("NeedDaemonReload") == "yes":
        return "its unit file was changed since it was started, which a restart would bring in as well"
    if overruling := _overruling(machine, env):
        return f"{overruling}, its EnvironmentFile=, sets {' or '.join(env)} too and counts more: change it there"
    return ""


def _overruling(machine: UnitMachine, names: Iterable[str]) -> str:
    """The EnvironmentFile= that sets one of these variables, which counts more than Environment= wherever that stands
    (systemd.exec(5)); empty for none."""
    files, wanted = machine.environment_files(), "|".join(names)
    if not files or not wanted:
        return ""
    found = machine.run(["sh", "-c", _GREP, "sh", rf"^\s*({wanted})=", "\n".join(files)])
    return found.text.partition("\n")[0]
