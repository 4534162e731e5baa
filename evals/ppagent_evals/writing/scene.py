"""One server from its start through its load: the usual course of a recording."""

from collections.abc import Mapping

from ppagent_evals.writing.gpus import Gpu, samples
from ppagent_evals.writing.incident import artifacts, new_log
from ppagent_evals.writing.info import loads, server_info
from ppagent_evals.writing.load import Counters, Load
from ppagent_evals.writing.scrapes import scrapes
from ppagent_evals.writing.server import Server, batch_ranks
from ppagent_evals.writing.startup import start_up
from ppagent_evals.writing.traffic import Scheduler


class Scene:
    """A server's log and schedulers. `seed` is the incident's id, so that it always comes out the same."""

    def __init__(self, seed: str, server: Server, start: str) -> None:
        self.server = server
        self.log = new_log(server, seed, start)
        self.schedulers: list[Scheduler] = []
        self.done: list[Counters] = []
        self.shown_until_s: float | None = None
        self.ready_s = 0.0
        self.left_out_s = 0.0

    def start(
        self,
        *,
        load_s: float = 95.0,
        warnings: tuple[str, ...] = (),
        at_init: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        draft: tuple[str, float] | None = None,
    ) -> None:
        """The start-up lines."""
        start_up(self.log, load_s=load_s, warnings=warnings, at_init=at_init, notes=notes, draft=draft)
        self.open()

    def open(self) -> None:
        """The schedulers of this node."""
        self.ready_s = self.log.at
        ranks = sorted({-1 if r.dp is None else r.dp for r in batch_ranks(self.server)})
        self.schedulers = [Scheduler(self.log, None if dp < 0 else dp) for dp in ranks]

    def serve(
        self,
        load: Load | list[Load],
        seconds: float,
        *,
        after_s: float = 9.0,
        scrape_every: float = 0.0,
        carry_on: bool = False,
    ) -> Counters:
        """Serves after a pause of `after_s`; one load for every scheduler, or one for each."""
        self.log.at += after_s
        each = load if isinstance(load, list) else [load] * len(self.schedulers)
        pairs = list(zip(self.schedulers, each, strict=True))
        begun, self.done, end = self.log.at, [], self.log.at
        for scheduler, own in pairs:
            self.log.at = begun
            self.done.append(scheduler.serve(own, seconds, scrape_every=scrape_every, carry_on=carry_on))
            end = max(end, self.log.at)
        self.log.at = end
        return self.done[0]

    def serve_unseen(
        self, load: Load | list[Load], seconds: float, *, after_s: float = 0.0, scrape_every: float = 0.0
    ) -> Counters:
        """Goes on serving after the log's excerpt ends, for counters and benchmark rows."""
        if self.shown_until_s is None:
            self.shown_until_s = self.log.at
        for scheduler in self.schedulers:
            scheduler.printer.quiet = True
        return self.serve(load, seconds, after_s=after_s, scrape_every=scrape_every)

    def leave_out_ramp(self) -> None:
        """Leaves what was logged between the ready line and now out of the excerpt."""
        self.left_out_s = self.log.at

    def gpus(self, gpus: list[Gpu], *, before_end_s: float = 14.0, count: int = 5) -> str:
        """GPU samples shortly before the present."""
        return samples(self.log, gpus, at=self.log.at - before_end_s, count=count)

    def metrics(self, *, without: tuple[str, ...] = ()) -> Mapping[str, str]:
        return scrapes(self.log, self.schedulers, without=without)

    def info(self, *, slot_limit: int | None = None) -> str:
        return server_info(self.server, self.done, slot_limit=slot_limit)

    def loads(self) -> str:
        return loads(self.server, self.done, at=self.log.iso())

    def host(self, **more: str) -> dict[str, str]:
        """The artifacts of this node; `__` stands for a dot in their names."""
        until = float("inf") if self.shown_until_s is None else self.shown_until_s
        text = self.log.text(until_s=until, without=(self.ready_s, self.left_out_s))
        return artifacts(self.server, text, **more)
