"""What a launch flag does in the installed version, and whether this server sets it."""

from ppagent.agent.investigation import Investigation
from ppagent.changes.commands import Installed
from ppagent.chat.answers.values import IN_FORCE
from ppagent.chat.wording import tagged
from ppagent.report.flag_page import explain_flag
from ppagent.report.lines import BLANK, Line, wrapped

_LONG = 40
"""Lines of a page that are shown; `ppagent explain` has the rest."""


def flag_lines(found: Investigation, flag: str, width: int) -> list[Line]:
    """The flag's page for the installation, for the newest version where it does not say which it is. Raises UserError
    for what no version has."""
    page = explain_flag(flag, installed=Installed.of(found.facts).catalogue).splitlines()
    lines = here_lines(found, flag, width)
    for declined in found.plan.declined:
        if declined.lever == flag:
            lines += wrapped(tagged(f"Not the cure here: {declined.why}", declined.cites), width)
    lines += [BLANK, *(Line(line) for line in page[:_LONG])]
    if len(page) > _LONG:
        lines.append(Line(f"... {len(page) - _LONG} more lines: ppagent explain {flag}", "dim"))
    return lines


def here_lines(found: Investigation, flag: str, width: int, indent: str = "") -> list[Line]:
    """What this server has it set to."""
    field = flag.lstrip("-").replace("-", "_")
    fact = found.facts.arg(field)
    in_force = IN_FORCE[flag](found.facts) if flag in IN_FORCE else ""
    took = wrapped(f"{in_force}.", width, indent) if in_force else []
    if fact is None:
        return took or wrapped(f"{flag} is not seen in this server's arguments.", width, indent)
    if fact.value is None:
        return [*wrapped(tagged(f"{flag} is not set", (fact.evidence,)) + ".", width, indent), *took]
    return wrapped(tagged(f"{flag} is {_value(fact.value)} on this server", (fact.evidence,)), width, indent)


def _value(value: object) -> str:
    """As a launch command would have it."""
    match value:
        case None:
            return "unset"
        case True:
            return "set"
        case False:
            return "not set"
        case _:
            return str(value)
