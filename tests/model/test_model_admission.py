import pytest

from ppagent.model.admission import Scheduler, as_in
from ppagent.model.workload import Admission, Request
from ppagent.sglang.versions import parse_version


def scheduler(slots: int, requests: int, prompt: int = 100, **rules: int) -> Scheduler:
    made = Scheduler(slots, Admission(**{"slot_limit": 256, **rules}))
    made.waiting.extend(Request(0.0, prompt, 10) for _ in range(requests))
    return made


def fill_once(made: Scheduler) -> list[int]:
    """Requests that each slot takes in one round."""
    taken = []
    for slot in made.slots:
        batch = made.next_batch(slot)
        taken.append(0 if batch is None else len(batch.requests))
        if batch is not None:
            slot.running.extend(request for request in batch.requests if request is not batch.unfinished)
    return taken


def test_all_waiting_requests_go_into_the_first_slot_that_has_room() -> None:
    assert fill_once(scheduler(8, 8)) == [8, 0, 0, 0, 0, 0, 0, 0]


def test_a_slot_limit_deals_them_over_the_slots() -> None:
    assert fill_once(scheduler(4, 8, slot_limit=2)) == [2, 2, 2, 2]


def test_the_chunk_budget_deals_long_prompts_over_the_slots() -> None:
    made = scheduler(8, 16, prompt=1024, chunk_tokens=8192)
    assert fill_once(made) == [8, 8, 0, 0, 0, 0, 0, 0]


def test_a_prompt_longer_than_the_budget_goes_on_in_the_next_slot() -> None:
    made = scheduler(3, 1, prompt=20_000, chunk_tokens=8192)
    chunks = []
    for slot in made.slots:
        batch = made.next_batch(slot)
        assert batch is not None
        chunks.append(batch.prompt_tokens)
    assert chunks == [8192, 8192, 3616]
    assert made.chunked is None


def test_a_full_slot_stays_shut_until_one_of_its_requests_leaves() -> None:
    made = scheduler(1, 3, slot_limit=2)
    assert fill_once(made) == [2]
    slot = made.slots[0]
    decode = made.next_batch(slot)
    assert decode is not None
    assert decode.prompt_tokens == 0
    assert slot.full
    made.leave(slot, slot.running[0])
    prefill = made.next_batch(slot)
    assert prefill is not None
    assert prefill.prompt_tokens == 100


def test_the_running_limit_holds_over_all_slots() -> None:
    assert fill_once(scheduler(4, 8, slot_limit=2, max_running=3)) == [2, 1, 0, 0]


def test_prompts_a_prefill_batch_can_be_bounded() -> None:
    assert fill_once(scheduler(4, 3, prefill_max_requests=1)) == [1, 1, 1, 0]


def test_without_chunking_a_long_prompt_is_one_batch() -> None:
    batch = scheduler(2, 1, prompt=50_000, chunk_tokens=0).next_batch(scheduler(2, 0).slots[0])
    assert batch is not None
    assert batch.unfinished is None


@pytest.mark.parametrize(("version", "passes"), [("0.5.23", 1), ("0.5.22", 2), ("0.5.10", 2), ("0.4.7", 2)])
def test_a_place_in_a_full_slot_is_free_at_once_only_from_0_5_23(version: str, passes: int) -> None:
    made = Scheduler(1, as_in(parse_version(version), Admission(1)))
    made.waiting.extend(Request(0.0, 100, 10) for _ in range(2))
    slot = made.slots[0]
    first = made.next_batch(slot)
    assert first is not None
    slot.running.extend(first.requests)
    assert made.next_batch(slot) is not None  # a decode step beside a waiting request: the slot is full
    made.leave(slot, first.requests[0])
    taken = 0
    while made.waiting:
        made.next_batch(slot)
        taken += 1
    assert taken == passes


@pytest.mark.parametrize(("version", "tokens"), [("0.5.7", 50), ("0.5.8", 0), ("0.5.10", 0), ("0.5.11", 50)])
def test_0_5_8_to_0_5_10_hold_a_chunk_back_in_a_full_slot(version: str, tokens: int) -> None:
    made = Scheduler(2, as_in(parse_version(version), Admission(1, chunk_tokens=100)))
    made.waiting.extend(Request(0.0, length, 10) for length in (60, 150))
    full, other = made.slots
    first = made.next_batch(full)
    assert first is not None
    full.running.extend(first.requests)
    assert made.next_batch(other) is not None  # the first 100 tokens of the long prompt
    batch = made.next_batch(full)
    assert batch is not None
    assert batch.prompt_tokens == tokens
