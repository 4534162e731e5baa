"""How SGLang deals requests over micro-batch slots, as pure state: no clock, no device.

Follows scheduler.py: get_next_batch_to_run and _get_new_batch_prefill_raw (read in 0.5.10 and 0.5.23): the waiting
queue and the chunked prompt are shared by all slots, running requests and the "full" flag belong to one slot, prefill
goes before decode in every slot, and a request stays in the slot that prefilled its last chunk.
"""

from collections import deque
from dataclasses import replace

from packaging.version import Version

from ppagent.model.workload import Admission, Request
from ppagent.sglang.versions import at_least


def as_in(version: Version | None, rules: Admission) -> Admission:
    """`rules` as the scheduler of `version` applies them; the newest known one's where it is None.

    Read in scheduler.py. Finished requests are dropped before admission from 0.5.23 (get_next_batch_to_run), until
    then by the slot's next decode pass (update_running_batch), so that a place is free a turn later under a full limit.
    0.5.8-0.5.10 hold a prompt's next chunk back in a full slot (_get_new_batch_prefill_raw); no other version does.
    """
    late = at_least(version, "0.5.23") is False
    held = bool(at_least(version, "0.5.8")) and at_least(version, "0.5.11") is False
    return replace(rules, leaves_late=late, chunk_needs_room=held)


class Slot:
    """One micro-batch slot: who decodes in it, and whether it has refused newcomers since the last one left.

    `leaving` counts finished requests that still hold a place.
    """

    __slots__ = ("full", "leaving", "running")

    def __init__(self) -> None:
        self.running: list[Request] = []
        self.leaving = 0
        self.full = False


class Batch:
    """The work of one slot in one pass. `prompt_tokens` 0 means a decode step."""

    __slots__ = ("done_ms", "prompt_tokens", "requests", "slot", "unfinished", "work_ms")

    def __init__(self, slot: Slot, requests: list[Request], prompt_tokens: int, unfinished: Request | None) -> None:
        self.slot = slot
        self.requests = requests
        self.prompt_tokens = prompt_tokens
        self.unfinished = unfinished
        self.work_ms: list[float] = []
        self.done_ms = 0.0


class Scheduler:
    """The shared queue and the slots; `next_batch` is one scheduling pass."""

    def __init__(self, slots: int, admission: Admission) -> None:
        self.slots = [Slot() for _ in range(slots)]
        self.waiting: deque[Request] = deque()
        self.chunked: Request | None = None
        self._rules = admission
        self._rows_left = admission.max_running

    def next_batch(self, slot: Slot) -> Batch | None:
        """What `slot` runs now: a prefill where one is possible, else its decode step, else nothing."""
        if not slot.running and not slot.leaving:
            slot.full = False
        if self.chunked is not None or (self.waiting and not slot.full):
            batch = self._prefill(slot)
            if batch is not None:
                return batch
        if slot.leaving:
            slot.leaving = 0
            slot.full = False
        return Batch(slot, slot.running.copy(), 0, None) if slot.running else None

    def leave(self, slot: Slot, request: Request) -> None:
        """`request` has its last token: its row is free, and its place in `slot` as the version has it."""
        slot.running.remove(request)
        self._rows_left += 1
        if self._rules.leaves_late:
            slot.leaving += 1
        else:
            slot.full = False

    def _prefill(self, slot: Slot) -> Batch | None:
        room = min(self._rules.slot_limit - len(slot.running) - slot.leaving, self._rows_left)
        if room <= 0 and (self.chunked is None or self._rules.chunk_needs_room):
            slot.full = True
            return None
        budget = self._rules.max_prefill_tokens
        if self._rules.chunk_tokens > 0:
            budget = min(budget, self._rules.chunk_tokens)
        taken: list[Request] = []
        left = budget
        if self.chunked is not None:
            left -= self._take(self.chunked, left, taken)
            self.chunked = self.chunked if self.chunked.prompt_left else None
        left = self._admit(slot, room, left, taken)
        return Batch(slot, taken, budget - left, self.chunked) if taken else None

    def _admit(self, slot: Slot, room: int, left: int, taken: list[Request]) -> int:
        most = self._rules.prefill_max_requests or len(self.waiting) + len(taken)
        while self.waiting and self.chunked is None and left > 0 and len(taken) < most:
            if len(taken) >= room:
                slot.full = True
                break
            whole = self._rules.chunk_tokens <= 0
            if whole and taken and self.waiting[0].prompt_left > left:
                break
            request = self.waiting.popleft()
            self._rows_left -= 1
            left -= self._take(request, request.prompt_left if whole else left, taken)
            if request.prompt_left:
                self.chunked = request
        return left

    @staticmethod
    def _take(request: Request, budget: int, taken: list[Request]) -> int:
        tokens = min(request.prompt_left, budget)
        request.prompt_left -= tokens
        taken.append(request)
        return tokens
