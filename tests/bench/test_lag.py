import asyncio
import time

from ppagent.bench.lag import LagMonitor


def late(work_s: float, busy: bool) -> LagMonitor:
    """A loop that is held up for `work_s`, by work or by sleep."""

    async def run() -> LagMonitor:
        lag = LagMonitor()
        lag.start()
        await asyncio.sleep(0.05)
        until = time.thread_time() + work_s
        if busy:
            while time.thread_time() < until:
                pass
        else:
            time.sleep(work_s)
        await asyncio.sleep(0.05)
        await lag.stop()
        return lag

    return asyncio.run(run())


def test_a_loop_held_up_by_its_own_work_is_late_by_its_own_work() -> None:
    lag = late(0.2, busy=True)
    assert lag.max_ms > 150
    assert max(lag.own_s) > 0.15


def test_a_loop_that_waited_for_a_processor_is_late_but_not_by_its_own_work() -> None:
    lag = late(0.2, busy=False)
    assert lag.max_ms > 150
    assert max(lag.own_s) < 0.1


def test_a_monitor_that_never_ran_has_no_lag() -> None:
    assert (LagMonitor().p99_ms, LagMonitor().max_ms) == (0.0, 0.0)
