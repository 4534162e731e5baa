"""The incidents that are written rather than measured: small functions, so that each can be read and regenerated."""

from collections.abc import Callable, Iterator

from ppagent_evals.cases import controls, pipeline_fill, pipeline_stages, pipeline_trouble, traps
from ppagent_evals.writing.incident import Incident

MODULES: tuple[tuple[Callable[[], Incident], ...], ...] = (
    controls.CASES,
    traps.CASES,
    pipeline_fill.CASES,
    pipeline_stages.CASES,
    pipeline_trouble.CASES,
)


def all_incidents() -> Iterator[Incident]:
    """Every written incident."""
    for cases in MODULES:
        for case in cases:
            yield case()
