"""The bar that runs while a server is measured. rich is loaded only where a person looks on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ppagent.bench.level import Progress

Show = Callable[[Progress], None]


@contextmanager
def bar(shown: bool) -> Iterator[Show]:
    """A function to hand progress to; it shows nothing where `shown` is false."""
    if not shown:
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[says]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("", total=1.0, says="")

        def show(at: Progress) -> None:
            drawn.update(task, description=at.label, completed=at.share, says=_words(at))

        yield show


def _words(at: Progress) -> str:
    rate = [f"{at.tokens_per_s:.1f} tok/s"] if at.tokens_per_s is not None else []
    running = [f"{at.in_flight} in flight"] if at.in_flight is not None else []
    failed = [f"{at.failed} failed"] if at.failed else []
    return "  ".join((*rate, f"{at.completed} done", *running, *failed))


def _nothing(_: Progress) -> None:
    """Nobody looks on."""
