"""A log is written by many processes at once and cut anywhere: a broken line is counted and never ends the reading."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from log_lines import read_log_text

DECODE = (
    "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: {}, #token: {}, token usage: {}, cuda graph: True, "
    "gen throughput (token/s): {}, #queue-req: {}\n"
)
PREFILL = (
    "[2026-05-02 14:24:25 PP0] Prefill batch, #new-seq: {}, #new-token: {}, #cached-token: {}, token usage: 0.00, "
    "#running-req: {}, #queue-req: {}, #pending-token: 3, cuda graph: False, input throughput (token/s): 1.5\n"
)
STARTS = (
    "[2026-05-02 14:24:25 PP{0}] Load weight end. type=X, dtype=torch.bfloat16, avail mem={0} GB, mem usage={0} GB.\n",
    "[2026-05-02 14:24:25 PP0] max_total_num_tokens={0}, chunked_prefill_size={0}, max_running_requests={0}\n",
    "[2026-05-02 14:24:25 PP0] Capture cuda graph bs [{0}, 1, {0}]\n",
    "[2026-05-02 14:24:25 PP0] KV Cache is allocated. #tokens: {0}, K size: {0} GB, V size: {0} GB\n",
    "[2026-05-02 14:24:25 PP{0}] KV cache pool is full. Retract requests. #retracted_reqs: {0}\n",
    "[2026-05-02 14:24:25 PP{0}] server_args=ServerArgs(pp_size={0})\n",
)
ODD = ("-5", "1.2.3", ".", "..", "9" * 400, "9" * 5000, "1e308", "nan", "inf", "", "0x10", "1_000", "١٢", "None", "3 7")


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:9])
@pytest.mark.parametrize("place", range(5))
def test_an_odd_number_in_a_batch_line_costs_that_line_at_most(odd: str, place: int) -> None:
    values = ["3", "100", "0.01", "95.50", "0"]
    good = DECODE.format(*values) + PREFILL.format("1", "512", "0", "0", "0")
    values[place] = odd
    counts = ["1", "512", "0", "0", "0"]
    counts[place] = odd
    stretch = read_log_text(good + DECODE.format(*values) + PREFILL.format(*counts) + good).current

    assert 2 <= stretch.decode[0].lines <= 3
    assert 2 <= stretch.prefill[0].lines <= 3
    rates = stretch.decode[0].tokens_per_s
    assert rates is not None
    assert rates.p50 == 95.5


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:9])
@pytest.mark.parametrize("line", STARTS, ids=lambda line: line[24:50])
def test_an_odd_number_at_the_start_of_a_server_is_no_fact(odd: str, line: str) -> None:
    good = DECODE.format("3", "100", "0.01", "95.50", "0")
    stretches = read_log_text(good + line.format(odd) + good).stretches
    assert sum(stretch.decode[0].lines for stretch in stretches) == 2


@example([(9, 3)])  # `[2026-05-26-05-02 14:24:25`, which reads like a time of the zone -02
@given(st.lists(st.tuples(st.integers(0, 160), st.integers(0, 160)), min_size=1, max_size=20))
def test_lines_written_into_one_another_are_read_without_an_error(cuts: list[tuple[int, int]]) -> None:
    one, other = DECODE.format("3", "100", "0.01", "95.50", "0"), PREFILL.format("1", "512", "0", "0", "0")
    mixed = "".join(one[:a] + other[b:] for a, b in cuts)
    assert read_log_text(one + mixed).lines >= 1
