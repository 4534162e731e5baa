"""Which stage works on which micro-batch, drawn over time."""

from itertools import accumulate

from ppagent.model.ring import Ring

_NAMES = "0123456789abcdefghijklmnopqrstuvwxyz"


def draw_timeline(ring: Ring, filled: int, requests: int, span_ms: float, width: int = 56) -> list[str]:
    """One line a stage over `span_ms`: the slot a stage's device works on, a dot where it waits.

    Slots are taken as neighbours, as SGLang fills them, and enter stage 0 one slowest stage apart.
    """
    batch = requests / filled
    turn_ms = ring.turn_ms(filled, requests)
    apart_ms = ring.slowest_ms(batch)
    device_ms = [stage.device_ms(batch) for stage in ring.stages]
    starts = [0.0, *accumulate(device_ms)]
    rows = []
    for stage, busy_ms in enumerate(device_ms):
        times_ms = ((column + 0.5) * span_ms / width - starts[stage] for column in range(width))
        cells = (_slot_at(since_ms, filled, apart_ms, turn_ms, busy_ms) for since_ms in times_ms)
        rows.append(f"stage {stage:<2} |{''.join(cells)}|")
    return rows


def _slot_at(since_ms: float, filled: int, apart_ms: float, turn_ms: float, busy_ms: float) -> str:
    for slot in range(filled):
        since_entry_ms = since_ms - slot * apart_ms
        if since_entry_ms >= 0 and since_entry_ms % turn_ms < busy_ms:
            return _NAMES[slot % len(_NAMES)]
    return "."
