"""What a tool would do, told before it does it: as it announces it, else by its name, its arguments and its summary.

Arguments called `argv` and `host` are a command, and where it runs.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ppagent.agent.state import CallRow
from ppagent.agent.toolbox import Offer
from ppagent.chat.consent import Deed
from ppagent.chat.session import Session
from ppagent.errors import ToolError
from ppagent.plugins import Announcement, Announces
from ppagent.targets.target import Target


def deed_of(session: Session, call: CallRow) -> Deed:
    """The question to a tool, as a person is asked to allow it. Raises ToolError where the tool says that it cannot be
    done at all: nobody is asked to allow that."""
    offer = session.desk.toolbox.find(call["tool"])
    told = _announced(session, offer, call)
    target, arguments = session.desk.context.target, call["arguments"]
    return Deed(
        name=call["tool"],
        arguments=call["arguments"],
        grade=call["grade"],
        where=told.where or str(arguments.get("host") or _places(target)),
        why=call["why"],
        runs=told.runs or _command(arguments),
        seconds=told.seconds,
        effect=told.effect or (offer.tool.summary if offer is not None else ""),
    )


def _places(target: Target) -> str:
    hosts = ", ".join(target.hosts)
    return target.name if hosts in ("", target.name) else f"{target.name} ({hosts})"


def _command(arguments: Mapping[str, Any]) -> str:
    argv = arguments.get("argv")
    return shlex.join(map(str, argv)) if isinstance(argv, list) else ""


def _announced(session: Session, offer: Offer | None, call: CallRow) -> Announcement:
    if offer is None or not isinstance(offer.tool, Announces):
        return Announcement("")
    try:
        arguments = offer.tool.arguments.model_validate(call["arguments"])
    except ValidationError as error:
        raise ToolError(str(error)) from error
    return offer.tool.announce(session.desk.context, arguments)
