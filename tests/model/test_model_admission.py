from ppagent.model.admission import Scheduler
from ppagent.model.workload import Admission, Request


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
