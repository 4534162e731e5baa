"""What `/v1/loads` (0.5.8+) and `/get_load` (0.4.7 to 0.5.20) say: the load of each DP rank.

Under pipeline parallelism the running count is of **one slot**, the one the scheduler looked at; it is no count of the
requests in flight. Tokens, queue and throughput are the scheduler's own. `/get_load` answers a list, in 0.4.10 one bare
number. Read in `srt/entrypoints/v1_loads.py`, `srt/managers/io_struct.py` and `Scheduler.get_load` of 0.4.10 to 0.5.23.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ppagent.errors import ToolError
from ppagent.sglang.server_info import number, read_answer, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class RankLoad:
    """One DP rank. `slot_running` is one pipeline slot's running requests; `token_usage` a share of the KV pool."""

    dp_rank: int = 0
    slot_running: int | None = None
    waiting: int | None = None
    used_tokens: int | None = None
    token_usage: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """All DP ranks."""

    ranks: tuple[RankLoad, ...] = ()

    @property
    def waiting(self) -> int | None:
        """Waiting requests of all DP ranks; None where none says."""
        known = [rank.waiting for rank in self.ranks if rank.waiting is not None]
        return sum(known) if known else None


def parse_loads(text: str) -> Loads:
    """Read either endpoint's body; ToolError where it is neither."""
    body = read_answer(text, "/v1/loads")
    rows = body.get("loads", body.get("load")) if isinstance(body, dict) else body
    tokens = None if isinstance(rows, str) else whole(rows)
    if tokens is not None:
        return Loads(ranks=(RankLoad(used_tokens=tokens),))
    if not isinstance(rows, list):
        raise ToolError("/v1/loads answered without a list of loads.")
    ranks = tuple(_rank(row, place) for place, row in enumerate(rows) if isinstance(row, dict))
    return Loads(ranks=ranks)


def _rank(row: Mapping[str, object], place: int) -> RankLoad:
    dp_rank, waiting = whole(row.get("dp_rank")), whole(row.get("num_waiting_reqs"))
    return RankLoad(
        dp_rank=place if dp_rank is None else dp_rank,
        slot_running=_running(row, waiting),
        waiting=waiting,
        used_tokens=_first_whole(row, "num_used_tokens", "num_tokens"),
        token_usage=number(row.get("token_usage")),
    )


def _running(row: Mapping[str, object], waiting: int | None) -> int | None:
    """`/get_load` counts running and waiting together (`num_reqs`); `/v1/loads` states running alone."""
    running = whole(row.get("num_running_reqs"))
    if running is not None:
        return running
    together = whole(row.get("num_reqs"))
    return None if together is None else together - (waiting or 0)


def _first_whole(row: Mapping[str, object], *names: str) -> int | None:
    return next((value for name in names if (value := whole(row.get(name))) is not None), None)
