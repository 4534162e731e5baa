from hypothesis import given
from hypothesis import strategies as st

from ppagent.bench.serving_output import Output

SAID = (
    b"benchmark_args=Namespace(...)\n"
    b"Starting warmup with 4 sequences...\n"
    b"Warmup completed with 4 sequences. Starting main benchmark run...\n"
    b"\r  0%|          | 0/40 [00:00<?, ?it/s]\r 25%|##5       | 10/40 [00:01<00:03,  9.80it/s]"
    b"\r100%|##########| 40/40 [00:04<00:00,  9.90it/s]\n"
    b"============ Serving Benchmark Result ============\n"
)


@given(st.integers(1, len(SAID)))
def test_however_it_is_cut_into_pieces_the_same_is_heard(length: int) -> None:
    said: list[str] = []
    done: list[int] = []
    heard = Output(said.append, done.append)
    for begin in range(0, len(SAID), length):
        heard.take(SAID[begin : begin + length])
    assert said == [
        "Starting warmup with 4 sequences...",
        "Warmup completed with 4 sequences. Starting main benchmark run...",
    ]
    assert done == [0, 10, 40]
    assert "25%" not in heard.end
    assert heard.end.endswith("Serving Benchmark Result ============")


def test_a_bar_is_heard_before_the_next_one_begins() -> None:
    done: list[int] = []
    heard = Output(done=done.append)
    heard.take(b"\r 25%|##5       | 10/40 [00:01<00:03,  9.80it/s]")
    assert done == [10]


def test_what_an_interrupted_bar_is_followed_by_is_the_end() -> None:
    done: list[int] = []
    heard = Output(done=done.append)
    heard.take(b"\r 25%|##5       | 10/40 [00:01<00:03,  9.80it/s]Traceback (most recent call last):\nKeyError: 'a'\n")
    assert (done, heard.end) == ([10], "Traceback (most recent call last): KeyError: 'a'")


def test_the_end_of_it_holds_no_key() -> None:
    heard = Output()
    heard.take(b"RuntimeError: no answer with api_key=sk-0123456789abcdef0123456789abcdef")
    assert "RuntimeError" in heard.end
    assert "sk-0123456789abcdef" not in heard.end
