"""The tools at hand for one target, each with the grade it has there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ppagent.plugins import Grade, Tool, ToolSource, live_only

BUILT_IN_ORIGIN = "built in"


@dataclass(frozen=True)
class Offer:
    """A tool that can be asked about this target."""

    tool: Tool
    origin: str
    grade: Grade
    """How much asking disturbs this target: the tool's own grade, and 0 on a recording, which nothing can disturb."""

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def built_in(self) -> bool:
        return self.origin == BUILT_IN_ORIGIN

    @property
    def takes_no_arguments(self) -> bool:
        """Whether it can be asked without any argument."""
        return not any(field.is_required() for field in self.tool.arguments.model_fields.values())

    def may_tell(self, fact: str) -> bool:
        """Whether its answer may hold `fact` (or, for a family `name.*`, one of the family)."""
        stem = fact.removesuffix("*")
        prefixes = [prefix.removesuffix("*") for prefix in self.tool.provides]
        return any(stem.startswith(prefix) or (fact != stem and prefix.startswith(stem)) for prefix in prefixes)


@dataclass(frozen=True)
class Toolbox:
    """All offers by name, and what could not be offered."""

    offers: tuple[Offer, ...]
    warnings: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def find(self, name: str) -> Offer | None:
        return next((offer for offer in self.offers if offer.name == name), None)


def open_toolbox(sources: Iterable[ToolSource], target_kind: str) -> Toolbox:
    """The toolbox out of what was discovered, without tools that act on a server where there is only a recording. Of
    two tools with one name the first counts, so that a plugin cannot quietly replace a built-in tool."""
    offers: dict[str, Offer] = {}
    warnings: list[str] = []
    for source in sources:
        if source.error:
            warnings.append(f"tools of {source.name} ({source.origin}) did not load: {source.error}")
        for tool in source.tools:
            if target_kind == "recording" and live_only(tool):
                continue
            if tool.name in offers:
                warnings.append(f"tool {tool.name} of {source.origin} is left out: the name is taken")
                continue
            grade = Grade.READ_FILE if target_kind == "recording" else tool.grade
            offers[tool.name] = Offer(tool, source.origin, grade)
    return Toolbox(tuple(offers.values()), tuple(warnings))
