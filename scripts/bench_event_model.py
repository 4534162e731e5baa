"""Times the event model: how long 1,000 what-ifs of ten seconds of serving take on one core.

    python scripts/bench_event_model.py [RUNS]

Runs a spread of rings (eager and with graphs, even and uneven stages), loads and limits, prints milliseconds a run and
the seconds that 1,000 would take. Exits with 1 where that is over a minute.
"""

import sys
import time
from collections.abc import Iterator

from ppagent.model.events import simulate
from ppagent.model.ring import Ring, Stage
from ppagent.model.workload import Admission, Load

BUDGET_S = 60.0


def what_ifs(count: int) -> Iterator[tuple[Ring, Load, Admission]]:
    """`count` cases around an eight-stage deployment whose turn takes 25 to 100 ms."""
    for index in range(count):
        host_ms = (0.4, 4.15)[index % 2]
        last_ms = (2.5, 4.5)[index // 2 % 2]
        stages = (*(Stage(2.5, 0.9, host_ms),) * 7, Stage(last_ms, 0.9, host_ms))
        ring = Ring(stages, hop_ms=0.11, return_ms=0.3, bookkeeping_ms=0.7)
        clients = (1, 4, 8, 16)[index // 4 % 4]
        load = Load(clients, 512, (100, 300), think_ms=50, start_spread_ms=100 * clients)
        yield ring, load, Admission((1, 2, 4, 256)[index // 16 % 4])


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 64
    start = time.process_time()
    for seed, (ring, load, admission) in enumerate(what_ifs(count)):
        simulate(ring, load, admission, seconds=10, warm_up_s=0, prefill_token_ms=0.025, seed=seed)
    each_ms = 1000 * (time.process_time() - start) / count
    sys.stdout.write(f"{count} runs of 10 s: {each_ms:.1f} ms each, so 1,000 in {each_ms:.1f} s of {BUDGET_S:.0f}\n")
    return int(each_ms > BUDGET_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
