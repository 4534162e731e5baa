"""The tools as a model may ask them: at or under the ceiling, by names the wire takes, without arguments that would
let it speak for the user or choose a host."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from ppagent.agent.choosing import View
from ppagent.agent.toolbox import Offer
from ppagent.brains.llm.model import Function
from ppagent.brains.llm.moves import MOVES, move_functions
from ppagent.brains.llm.schema import function_of
from ppagent.plugins import Grade

NOT_FOR_A_MODEL = frozenset(
    "question stated words host hosts hostname address addr url base_url endpoint port target user".split()  # noqa: SIM905
)
"""Arguments by which a caller says what the user said, or whom to ask: a person's to give."""

LISTED_SUMMARY, FUNCTION_SUMMARY = 110, 200
"""Characters of a tool's summary: in the list for `look`, and as a function's description."""


class BadCall(Exception):
    """A call that cannot be carried out; the text tells the model why."""


@dataclass(frozen=True)
class Toolset:
    """What is on offer in one investigation."""

    offers: tuple[Offer, ...]

    @classmethod
    def of(cls, view: View) -> "Toolset":
        return cls(tuple(offer for offer in view.offers if _open_to_a_model(offer, view.ceiling)))

    @cached_property
    def plain(self) -> dict[str, Offer]:
        """By name, the tools that `look` asks."""
        return {offer.name: offer for offer in self.offers if offer.takes_no_arguments}

    @cached_property
    def with_arguments(self) -> dict[str, Offer]:
        """By the name on the wire, the tools that are functions of their own."""
        named: dict[str, Offer] = {}
        for offer in self.offers:
            if not _open_fields(offer):
                continue
            name = re.sub(r"[^A-Za-z0-9_-]", "_", offer.name)[:60]
            while name in named or name in MOVES:
                name += "_"
            named[name] = offer
        return named

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Everything the model may call."""
        tools = (
            function_of(name, summary_of(offer, FUNCTION_SUMMARY), offer.tool.arguments, NOT_FOR_A_MODEL)
            for name, offer in self.with_arguments.items()
        )
        return (*move_functions(), *tools)

    def find_plain(self, name: str) -> Offer | None:
        """A tool for `look` by its name, as it is called or as the wire would write it."""
        written = re.sub(r"[^a-z0-9]", "", name.lower())
        return next((o for o in self.plain.values() if re.sub(r"[^a-z0-9]", "", o.name.lower()) == written), None)

    def arguments_for(self, offer: Offer, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, checked. Raises BadCall."""
        withheld = sorted(set(given) & NOT_FOR_A_MODEL)
        if withheld:
            raise BadCall(f"{', '.join(withheld)} is not for you to give")
        return validated(offer.tool.arguments, given).model_dump(exclude_unset=True)


def validated(arguments: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """The arguments as their model. Raises BadCall with the field and the reason."""
    try:
        return arguments.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise BadCall(f"{place}: {first['msg']}") from error


def summary_of(offer: Offer, limit: int = LISTED_SUMMARY) -> str:
    """What a tool tells, cut to its first words."""
    first = " ".join(offer.tool.summary.split()).split(". ", 1)[0]
    return first if len(first) <= limit else first[:limit].rsplit(" ", 1)[0]


def _open_fields(offer: Offer) -> list[str]:
    return [name for name in offer.tool.arguments.model_fields if name not in NOT_FOR_A_MODEL]


def _open_to_a_model(offer: Offer, ceiling: Grade) -> bool:
    """A tool with arguments has to keep under the ceiling by its own grade, even where a recording answers for it."""
    fields = offer.tool.arguments.model_fields
    withheld = any(fields[name].is_required() for name in fields if name in NOT_FOR_A_MODEL)
    grade = offer.grade if offer.takes_no_arguments else max(offer.grade, offer.tool.grade)
    return grade <= ceiling and not withheld
