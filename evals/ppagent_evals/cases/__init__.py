"""The incidents that are written rather than measured: small functions, so that each can be read and regenerated."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from ppagent_evals.writing.incident import Incident


def all_incidents() -> Iterator[Incident]:
    """Every written incident: what the functions in `CASES` of this package's modules give."""
    for module in iter_modules(__path__):
        if not module.name.startswith("__"):
            for case in import_module(f"{__name__}.{module.name}").CASES:
                yield case()
