"""What whoever is on call asks around a diagnosis, each with the part of the answer that has to be right."""

import re
from collections.abc import Callable

import pytest

from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin
from ppagent.chat.session import Session
from tests.chat.chat_fakes import FakeScreen, screen_of
from tests.chat.conftest import SEED
from tests.chat.test_chat_questions import DECODE, METRIC, TRACEBACK

Answer = Callable[[str], str]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "what did you run on my box?",
            (
                "No command ran on a server: all of this was read from what was recorded.",
                "reads what is there: user.stated",
                "logs.decode server.log on gpu-box E23-E28",
                "no answer: the installed SGLang's source, the server's metrics,",
            ),
        ),
        (
            "is it the NIC?",
            ("No: all cards are in one machine, so no network card is between the stages", "by PCIe", "without NVLink"),
        ),
        (
            "what if I do nothing",
            (
                "micro-batches unfilled (PP001): curing it alone would bring +66 to +102 tok/s at C=8",
                "decode graphs switched off (CG001): curing it alone would bring +0 to +1 tok/s at C=8",
                "Whether it gets worse by itself is not known",
            ),
        ),
        (
            "is it safe to do at peak?",
            (
                "At peak: P1: can be done, it cuts no request, though some may queue; P2 and P3: not then, a restart",
                "P3, one restart: as P2",
            ),
        ),
        (
            "which metric should I watch",
            (
                "after P1 once running requests are replaced",
                "sglang:gen_throughput: tok/s, 'gen throughput' in the log's decode lines; seen here 95.",
                "sglang:num_queue_reqs: requests that wait, #queue-req in the log; seen here 0 [E",
            ),
        ),
        (
            "how long would it take",
            (
                "P1 one call, answered at once.",
                "P2 as long as the server takes to start",
                "took 19 min 40 s at the last start [E38]",
                "P3 as P2",
            ),
        ),
        (
            "my boss says cuda graphs",
            (
                "Yes, decode graphs switched off (CG001)",
                "worth +0 to +1 tok/s at C=8 if cured alone; the most by itself is PP001's, +66 to +102 tok/s",
            ),
        ),
        ("gpu 3 is at 12%?", ("GPU 3", "% utilisation", "the median of the others:", "Found here: Micro-batches unf")),
        ("gpu 12 is at 12%?", ("No GPU 12 was sampled: there are 0, 1, 2, 3, 4, 5, 6, 7.",)),
        ("limit 4", ("With limit 4, at C=8:",)),
        ("wat if limt 4 at c=16", ("With limit 4, at C=16:",)),
        (
            "what if limit 4 with --pp-max-micro-batch-size 2",
            ("With limit 2, at C=8:", "not used limit 4: --pp-max-micro-batch-size 2 is named beside it"),
        ),
        ("give me the restart command", ("THEN, one restart (P2: CG001 PP001)", "--pp-max-micro-batch-size 1")),
        (
            METRIC,
            (
                "Read as the server's metrics:",
                "requests running, of one micro-batch: 3",
                "That is not taken as evidence",
            ),
        ),
        (
            DECODE,
            ("Read as the log's decode lines:", "requests running (#running-req): 1 (here 2 [", "ppagent diagnose -"),
        ),
        (
            TRACEBACK,
            (
                "Read as errors and warnings in the log:",
                "cuda oom: 1",
                "cuda oom, tried: 2.00 GiB",
                "That is not taken as evidence",
                "ppagent diagnose -",
            ),
        ),
        ("x" * 1500 + " lorem ipsum" * 125, ("did not understand that",)),
        ("/why nonsense", ("No cause is called nonsense. /board lists them.",)),
    ],
)
def test_what_is_asked_on_call_is_answered(question: str, parts: tuple[str, ...], answered: Answer) -> None:
    shown = answered(question)

    for part in parts:
        assert part in shown


def test_what_comes_next_goes_on_from_the_proposal_that_was_shown(looked: Session, answered: Answer) -> None:
    looked.shown = ""
    first = answered("and then?")

    assert "After P1 (Let a slot take at most 1, so that 8 requests spread over 8 slots): 1. check: once" in first
    assert "2. no better, or worse: go back: set the old value (369) the same way" in first
    assert "3. then, one restart: P2, drop --disable-cuda-graph, set --pp-max-micro-batch-size 1, forecast" in first
    assert "or in its place, one restart: P3" in first
    assert "5. under the same load look again: ppagent diagnose ssh://HOST; PP001 should be ruled out then." in first

    answered("P3")
    last = answered("and then?")

    assert "After P3" in last and "then stop: no further change is proposed" in last


@pytest.mark.parametrize("question", [METRIC, DECODE, TRACEBACK, "wat if limt 4 at c=16", "gpu 3 is at 12%?"])
def test_what_is_pasted_or_asked_is_never_taken_for_a_statement(
    question: str, looked: Session, answered: Answer
) -> None:
    known = len(looked.desk.ledger.evidence)

    answered(question)

    assert len(looked.desk.ledger.evidence) == known


@pytest.mark.parametrize(
    "question",
    ["what did you run", "and then?", "is it the NIC?", "is it safe at peak?", "which metric should I watch", METRIC],
)
def test_no_answer_is_wider_than_the_screen_or_names_a_tool_and_a_grade_by_number(
    question: str, looked: Session, answered: Answer
) -> None:
    answered(question)

    lines = screen_of(looked).lines
    assert max(map(len, lines)) <= 80
    assert not re.search(r"\bgrade \d|\bask \w+\.\w+", "\n".join(lines))


def test_a_healthy_server_gets_short_answers_of_its_own() -> None:
    session = begin(str(SEED.parent / "healthy-pp4-loaded"), Options(FakeScreen()))

    def answer(text: str) -> str:
        screen_of(session).lines.clear()
        take_turn(session, text)
        return " ".join(screen_of(session).text.split())

    assert "There is nothing to do after this: nothing needs to be changed." in answer("and then?")
    assert "At peak: there is nothing to do, no change is proposed." in answer("is it safe to do at peak?")
    assert "Nothing is lost by it. Nothing is wrong with the server" in answer("what if I do nothing")
    assert "Nothing has to be done, so nothing takes any time." in answer("how long would it take")
    assert "python" in answer("give me the restart command").partition("The launch command that runs now")[2]


def test_a_limit_that_the_launch_sets_already_is_named_beside_the_one_that_is_asked_about() -> None:
    session = begin(str(SEED.parent / "lab-limit-left-pp4"), Options(FakeScreen()))
    screen_of(session).lines.clear()

    take_turn(session, "limit 2")

    shown = " ".join(screen_of(session).text.split())
    assert "With limit 2, at C=16:" in shown
    assert re.search(r"now --pp-max-micro-batch-size 1 of the launch, which 2 would replace \[E\d+\]", shown)
