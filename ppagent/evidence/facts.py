"""Evidence by the names of its facts: what causes, proposals and reports ask."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ppagent.evidence.evidence import Evidence, FactValue


@dataclass(frozen=True)
class Fact:
    """One fact and the evidence it stands on."""

    name: str
    value: FactValue
    evidence: str
    host: str = ""
    authority: int = 1

    @property
    def number(self) -> float | None:
        """The value where it is a number (booleans are none)."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            return None
        return float(self.value)


class Facts:
    """All facts of an investigation. Where several findings state one fact, the highest authority counts,
    then the first host (the one that holds stage 0), then the first found."""

    def __init__(self, evidence: Iterable[Evidence] = ()) -> None:
        self._by_name: dict[str, list[Fact]] = defaultdict(list)
        for item in evidence:
            for name, value in item.facts.items():
                self._by_name[name].append(Fact(name, value, item.id, item.host, item.authority))

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def get(self, name: str) -> Fact | None:
        """The fact that counts under `name`; None when nothing states it or states it as unknown (null)."""
        known = [fact for fact in self._by_name.get(name, ()) if fact.value is not None]
        return max(known, key=lambda fact: fact.authority) if known else None

    def all(self, name: str) -> tuple[Fact, ...]:
        """Every statement of `name`, one per finding (several hosts, requested and effective)."""
        return tuple(self._by_name.get(name, ()))

    def first(self, *names: str) -> Fact | None:
        """The first of `names` that is known."""
        return next((fact for name in names if (fact := self.get(name)) is not None), None)

    def number(self, name: str) -> float | None:
        fact = self.get(name)
        return None if fact is None else fact.number

    def flag(self, name: str) -> bool | None:
        """A true/false fact; None when it is unknown or no boolean."""
        fact = self.get(name)
        return fact.value if fact is not None and isinstance(fact.value, bool) else None

    def text(self, name: str) -> str | None:
        fact = self.get(name)
        return fact.value if fact is not None and isinstance(fact.value, str) else None

    def items(self, name: str) -> list[FactValue]:
        """A list fact; empty when it is unknown."""
        fact = self.get(name)
        return fact.value if fact is not None and isinstance(fact.value, list) else []

    def table(self, name: str) -> dict[str, FactValue]:
        """A table fact (by rank, by GPU); empty when it is unknown."""
        fact = self.get(name)
        return fact.value if fact is not None and isinstance(fact.value, dict) else {}

    def numbers(self, name: str) -> dict[str, float]:
        """The numeric rows of a table fact."""
        rows = self.table(name).items()
        return {key: float(v) for key, v in rows if isinstance(v, int | float) and not isinstance(v, bool)}

    def cite(self, *names: str) -> tuple[str, ...]:
        """Evidence ids behind those of `names` that are known, each once, in order."""
        known = (self.get(name) for name in names)
        return tuple(dict.fromkeys(fact.evidence for fact in known if fact is not None))

    def arg(self, field: str) -> Fact | None:
        """A server argument by its field name: as the server has it, else as it was requested."""
        return self.first(f"args.{field}", f"launch.{field}")

    def numeric_arg(self, field: str) -> Fact | None:
        """A server argument that must be a number, from the first of both that states one: a server's answer that
        holds something else there tells nothing, and hides nothing."""
        stated = (self.get(f"args.{field}"), self.get(f"launch.{field}"))
        return next((fact for fact in stated if fact is not None and fact.number is not None), None)

    def arg_number(self, field: str) -> float | None:
        fact = self.numeric_arg(field)
        return None if fact is None else fact.number

    def arg_flag(self, field: str) -> bool | None:
        fact = self.arg(field)
        return fact.value if fact is not None and isinstance(fact.value, bool) else None

    def arg_text(self, field: str) -> str | None:
        fact = self.arg(field)
        return fact.value if fact is not None and isinstance(fact.value, str) else None

    def cite_args(self, *fields: str) -> tuple[str, ...]:
        """Evidence ids behind those arguments that are known."""
        known = (self.arg(field) for field in fields)
        return tuple(dict.fromkeys(fact.evidence for fact in known if fact is not None))
