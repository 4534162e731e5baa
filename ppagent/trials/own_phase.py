"""One stretch of our own load, summed up."""

from collections.abc import Sequence
from math import fsum

from ppagent.bench.partial import gaps_in
from ppagent.bench.record import Request
from ppagent.bench.result import in_flight_in
from ppagent.bench.smooth import smooth_rate
from ppagent.bench.statistics import percentile
from ppagent.bench.steady import Window
from ppagent.errors import ToolError
from ppagent.trials.phase import Phase


def phase_of(label: str, records: Sequence[Request], window: Window, running: Sequence[int]) -> Phase:
    """What `window` comes to; `running` are the requests of one micro-batch as the server told them meanwhile.

    Raises ToolError where hardly a token came.
    """
    rate = smooth_rate(records, window)
    if rate is None:
        raise ToolError(f"hardly a token came within {window.seconds:.0f} s: measure for longer")
    ended = [record for record in records if window.begin <= record.ended_at <= window.end]
    good = [record for record in ended if record.succeeded]
    gaps = gaps_in((record for record in records if not record.error), window)
    return Phase(
        label=label,
        tokens_per_s=rate.tokens_per_s,
        error_share=rate.error_share,
        seconds=rate.seconds,
        in_flight=in_flight_in(records, window.begin, window.end),
        itl_ms=1000 * fsum(gaps) / len(gaps) if gaps else None,
        ttft_ms=1000 * percentile([record.ttft_s for record in good], 50) if good else None,
        completed=len(good),
        failed=len(ended) - len(good),
        slot_running=percentile(running, 50) if running else None,
        blocks=rate.blocks,
    )
