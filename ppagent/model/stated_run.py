"""A run given by its numbers (stage times, settings, clients): tokens a second by the event model and in closed form.

This is what a measurement on a server with known stage times is held against.
"""

from dataclasses import dataclass
from statistics import fmean

from ppagent.model.events import simulate
from ppagent.model.forecast import Forecast, throughput_forecast
from ppagent.model.regime import wait_for_a_slot
from ppagent.model.ring import Ring
from ppagent.model.tally import Outcome
from ppagent.model.workload import Admission, Launch, Load

DRAWS = 6
"""Runs of the event model, each with other arrivals and lengths: clumps come and go, so one run says little."""


@dataclass(frozen=True)
class StatedRun:
    """Everything that decides a run. `admission.slot_limit` at or above the clients leaves them alone.

    `prefill_token_ms` is the device time of one prompt token on one stage. Counting begins after `warm_up_s` and takes
    `seconds`.
    """

    ring: Ring
    load: Load
    admission: Admission
    prefill_token_ms: float = 0.0
    launch: Launch = Launch.OVERLAPS
    warm_up_s: float = 20.0
    seconds: float = 60.0

    @property
    def room(self) -> int:
        """Requests that the slots hold at once; the others wait."""
        return min(self.admission.slot_limit * self.ring.slots, self.admission.max_running)

    @property
    def limited(self) -> bool:
        """Whether the slot limit keeps the clients from sharing one slot."""
        return self.admission.slot_limit < self.load.clients


@dataclass(frozen=True)
class RunForecast:
    """What the models say: `forecast` is the event model's range over all draws, `tokens_per_s` its mean.

    `waiting` is the number of requests that find no slot, `filled` the mean number of slots that hold requests.
    """

    forecast: Forecast
    tokens_per_s: float
    closed_form: float
    filled: float
    waiting: int
    ttft_ms: float
    itl_ms: float


def forecast_run(run: StatedRun, draws: int = DRAWS) -> RunForecast:
    """Both models on `run`, the event model `draws` times."""
    outcomes = [_serve(run, seed) for seed in range(draws)]
    rates = [outcome.tokens_per_s for outcome in outcomes]
    closed = closed_form(run)
    waiting = max(0, run.load.clients - run.room)
    filled = fmean(outcome.filled for outcome in outcomes)
    regime = f"{filled:.1f} of {run.ring.slots} slots filled"
    if waiting:
        regime += f", {wait_for_a_slot(waiting, run.load.clients)}"
    return RunForecast(
        forecast=throughput_forecast(run.load.clients, closed, rates, regime),
        tokens_per_s=fmean(rates),
        closed_form=closed,
        filled=filled,
        waiting=waiting,
        ttft_ms=fmean(outcome.mean_ttft_ms for outcome in outcomes),
        itl_ms=fmean(outcome.mean_itl_ms for outcome in outcomes),
    )


def closed_form(run: StatedRun) -> float:
    """Tokens a second by the ring alone: each request takes a turn a token, its wait for a slot and its pause.

    Where no limit spreads the requests they are taken to sit in one slot.
    """
    load, limit = run.load, run.admission.slot_limit
    running = min(load.clients, run.room)
    filled = min(run.ring.slots, -(-running // limit)) if run.limited else 1
    turn_ms = run.ring.turn_ms(filled, running)
    mean_tokens = sum(load.output_tokens) / 2
    pause_ms = load.think_ms + load.client_ms
    if load.lockstep:
        rounds = -(-load.clients // running)
        return 1000 * load.clients * mean_tokens / (rounds * load.longest(running) * turn_ms + pause_ms)
    alone = 1000 * load.clients * mean_tokens / (mean_tokens * turn_ms + pause_ms)
    return min(alone, 1000 * running / turn_ms)


def _serve(run: StatedRun, seed: int) -> Outcome:
    return simulate(
        run.ring,
        run.load,
        run.admission,
        seconds=run.seconds,
        warm_up_s=run.warm_up_s,
        prefill_token_ms=run.prefill_token_ms,
        launch=run.launch,
        seed=seed,
    )
