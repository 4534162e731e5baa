from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from ppagent.agent.board import Board
from ppagent.agent.choosing import ToolCall
from ppagent.agent.contribution import Contribution, Remark
from ppagent.causes.cause import Observation
from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin, leave
from ppagent.chat.replies import reply
from ppagent.chat.session import Session
from ppagent.evidence.evidence import Finding
from ppagent.evidence.facts import Facts
from ppagent_tools.user import StatedFacts
from tests.agent.fakes import FakeBrain, FakeCause
from tests.chat.chat_fakes import FakePerson, FakeScreen, fake_session, probe, screen_of
from tests.chat.conftest import SEED
from tests.fixtures.growth import LINEAR, growth

Answer = Callable[[str], str]


def test_a_session_begins_with_what_server_it_is_and_under_what_load(seed: Session) -> None:
    shown = " ".join(screen_of(seed).text.split())

    assert "SGLang 0.5.11 · PP8 TP1 · 8x RTX PRO 6000 Blackwell Workstation Edition" in shown
    assert "24.7 / 68.3 / 95.6 tok/s at C=1/4/8" in shown
    assert "1-3 requests in a micro-batch, queue 0, 95.3 tok/s" in shown
    assert len(screen_of(seed).lines) <= 12


def test_the_seeds_question_leads_to_the_relaunch(seed: Session) -> None:
    take_turn(
        seed,
        "gpu util at 150/200 out of 600, makes no sense, seems like we're not properly pushing data into the pipeline?",
    )

    shown = screen_of(seed).text
    assert "You are right about the pipeline's slots." in shown
    assert "DIAGNOSED  Micro-batches unfilled (PP001)" in shown
    assert "    - --disable-cuda-graph\n    + --pp-max-micro-batch-size 1\n" in shown
    assert "NOT THE CURE  --pp-async-batch-depth" in shown
    assert max(map(len, screen_of(seed).lines)) <= 80


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("is it the kv cache?", ("No, KV pool exhausted (KV001) is ruled out", "[E")),
        ("is PP001 the cause?", ("Yes, micro-batches unfilled (PP001)", "cure P1")),
        ("could it be the all-reduce over pcie or power throttling?", ("(IC001) is ruled out", "(HW001) is ruled out")),
        (
            "is it uneven stages?",
            ("Cannot tell yet, uneven stages (PP004) is open at 0.", "curl -s http://HOST:PORT/metrics"),
        ),
        ("what should I change?", ("TRY NOW, live, reversible (P1: PP001)", "THEN, one restart (P2: CG001 PP001)")),
        ("what if the limit is 1?", ("With limit 1, at C=8: 162-198 tok/s (now 95.6): helps",)),
        ("what if the limit is 2 at C=16?", ("With limit 2, at C=16:",)),
        ("what if --pp-async-batch-depth is 2", ("fills none", "Not the cure: --pp-async-batch-depth")),
        ("what if we turn on graphs and the limit is 1", ("With limit 1, graphs on, at C=8: 200-214 tok/s",)),
        ("what if we turn on graphs", ("With graphs on, at C=8:",)),
        ("what if I set --attention-backend=flashinfer0?", ("no forecast", "--attention-backend")),
        ("what if I set --no-such-flag=1?", ("SGLang 0.5.11 has no flag --no-such-flag",)),
        ("what if?", ("Which setting?",)),
        ("what does --pp-async-batch-depth do?", ("is 0 on this server", "Not the cure here", "0.5.7 added")),
        ("what does --no-such-flag do?", ("No SGLang version known here has a flag --no-such-flag",)),
        ("show me E29", ("bench.results · bench.jsonl", '"output_throughput": 24.7')),
        ("compare with before", ("There is no earlier session about this target",)),
        ("should I disable overlap?", ("Nothing found here asks for --disable-overlap-schedule", "is always off")),
        ("should I set --pp-async-batch-depth?", ("No, --pp-async-batch-depth is not the cure here",)),
        ("should I set --pp-max-micro-batch-size?", ("Yes, --pp-max-micro-batch-size: P1 P2 P3 would set it to 1",)),
        ("why not TP8?", ("would give about 89.9-101 tok/s at C=1 and 356-524 at C=8", "there is no NVLink")),
        ("can we go to pp4 tp8", ("It takes 32 cards, where 8 are used now",)),
        ("roll back", ("I changed nothing on the server", "if you made the change of P1: set the old value")),
        ("is it safe to run bench now", ("This is no live server", "/bench puts load on the server")),
        ("will it lose requests?", ("P2, one restart", "it cuts what the server is answering")),
        ("how sure are you?", ("reconstructed from a report", "micro-batches unfilled (PP001): supported", "for")),
        ("what does that mean?", ("PP001 micro-batches unfilled", "they clump", "CG001 decode graphs")),
        (
            "is the gpu throttling?",
            ("No, power cap (HW001) is ruled out", "No, thermal or hardware throttle (HW002) is ruled out"),
        ),
        (
            "is it the network?",
            ("No: all cards are in one machine, so no network card is between the stages", "linked by PCIe"),
        ),
        (
            "is it the disk?",
            ("causes I know is about disk, so I can neither confirm that nor rule it out.", "Found here"),
        ),
        ("is the model too big?", ("No, out of memory at load (LA003) is ruled out: the server reported itself",)),
        ("can you restart it?", ("No: this is no live server", "/copy P2 takes the new launch command along")),
        (
            "give me the command",
            ('{"server_args": {"pp_max_micro_batch_size": 1}}', "others: /propose P2, /propose P3"),
        ),
        ("what's the full command for P2", ("--port 30000 --pp-max-micro-batch-size 1", "others: /propose P1")),
        (
            "what is PP001?",
            ("micro-batches unfilled Pipelining is always on", "Here: Micro-batches unfilled (PP001): supp"),
        ),
        ("why is nvidia-smi showing 100%?", ("share of time in which some kernel ran", "GPU 0 32 %, 173 W of 600 W")),
        (
            "what if I set --mem-fraction-static 0.9?",
            ("no forecast", "--mem-fraction-static is 0.88 on this server", "Nothing found here asks for"),
        ),
        ("should I buy more GPUs?", ("more or other cards would give here I cannot tell", "Mend first what was found")),
        ("did you check the logs?", ("logs.decode server.log E23-E28", "not recorded: the server's metrics")),
        ("warum ist es so langsam?", ("I understand English only", "Micro-batches unfilled (PP001)")),
        ("thanks a lot", ("You are welcome.",)),
        ("who are you?", ("ppagent, which finds out why an SGLang server is slow (rules brain)",)),
        ("how much faster will it get", ("P1, try now, live, reversible: forecast at C=8: 162-198", "about 435 tok/s")),
        ("would more users help?", ("Not by themselves: slots stand empty", "8 requests in flight, 8 slots")),
        (
            "how many requests can it take",
            ("At most 2954 at a time, 369 of them in one slot; what comes on top waits",),
        ),
        ("what's P3 risk", ("P3, one restart: capture may fail", "it cuts what the server is answering")),
        ("does it need a restart", ("A restart cuts whatever", "P1, changed live")),
        ("i restarted it with limit 1", ("This is no live server: a second look finds the same",)),
        ("no that's wrong, we run 64 concurrent", ("Taken down as E", "how often that is seen")),
        ("what do you need from me?", ("a load test (read here, which did not tell):", "Record the server while")),
        ("how many tokens per second", ("24.7 / 68.3 / 95.6 tok/s at C=1/4/8",)),
        ("should I use vllm instead", ("I know SGLang and no other engine", "Found here: Micro-batches unfilled")),
        ("why is ttft so high?", ("Nothing found here explains prefill", "(PP005)")),
        ("what about fp8?", ("--quantization", "(KR003)")),
        ("is it the kv cache and should i turn on graphs?", ("- is it the kv cache No,", "- should i turn on graphs?")),
        ("what if we turn on graphs", ("Proposed as well: P2 P3",)),
        ("P2", ("THEN, one restart (P2: CG001 PP001)", "back: restart with")),
        ("try P1", ("tune.set_limit needs a live server",)),
        ("do it", ("This is no live server", "/copy P1 takes the command along")),
        ("please write me a poem", ("I answer by rules here", "why it is slow")),
        ("and another poem", ("I did not understand that either.",)),
        ("hello", ("Ask why it is slow",)),
        ("yes", ("Yes to what?",)),
        ("no", ("Nothing is done",)),
    ],
)
def test_what_the_rules_can_answer(question: str, parts: tuple[str, ...], answered: Answer) -> None:
    shown = answered(question)

    for part in parts:
        assert part in shown


def told(session: Session, text: str) -> str:
    """What the session answers to a message."""
    screen_of(session).lines.clear()
    take_turn(session, text)
    return " ".join(screen_of(session).text.split())


def test_the_same_answer_is_not_told_twice_in_full(seed: Session) -> None:
    first, second = told(seed, "why is it slow?"), told(seed, "this is useless, why is it so slow?!")

    assert "DIAGNOSED Micro-batches unfilled (PP001)" in first
    assert "Nothing has come up" not in first
    assert "Nothing has come up that changes the answer: Micro-batches unfilled (PP001)" in second
    assert "next P1: Let a slot take at most 1" in second
    assert "forecast" not in second


def test_a_question_about_a_shape_is_never_taken_for_a_statement(looked: Session, answered: Answer) -> None:
    known = len(looked.desk.ledger.evidence)

    answered("can we go to pp4 tp2")

    assert len(looked.desk.ledger.evidence) == known


def test_a_what_if_agrees_with_the_proposal_for_the_same_change(looked: Session, answered: Answer) -> None:
    live = next(p for p in looked.found().plan.proposals if p.kind == "live")
    assert live.predicted is not None

    shown = answered("what if the limit is 1?")

    assert f"{live.predicted.low:.3g}-{live.predicted.high:.3g} tok/s" in shown


def test_a_statement_is_evidence_and_what_it_changes_is_said() -> None:
    session = fake_session(StatedFacts(), causes=[FakeCause("PP008", "stated.in_flight", name="a crowd")])
    session.looked = True
    hung = session.desk.causes[0]
    hung.observe = lambda facts: (  # type: ignore[method-assign]
        (Observation("16 in flight", facts.cite("stated.in_flight"), 0.99, 0.01),)
        if facts.number("stated.in_flight")
        else ()
    )

    reply(session, "we have 16 requests in flight")

    assert "Taken down as E1 E2" in screen_of(session).text
    assert "Yes, a crowd (PP008): 16 in flight [E2]." in screen_of(session).text


def test_words_that_hold_no_figure_of_a_server_are_not_taken_for_one() -> None:
    session = fake_session(StatedFacts())
    session.looked = True

    reply(session, "its colour is 3")

    assert "I answer by rules here" in screen_of(session).text


def test_what_is_said_later_counts_before_what_was_said_first_and_never_before_the_server(seed: Session) -> None:
    reply(seed, "why is it slow? we have 16 requests in flight")
    first = seed.desk.facts().get("stated.in_flight")
    reply(seed, "in fact we have 24 requests in flight")
    second = seed.desk.facts().get("stated.in_flight")

    assert (first.value if first else None, second.value if second else None) == (16, 24)
    assert seed.desk.facts().text("engine.version") == "0.5.11"


def test_a_server_with_a_live_proposal_is_offered_a_trial_and_a_recording_is_not(
    looked: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []
    monkeypatch.setattr("ppagent.chat.replies.run_command", lambda session, text: started.append(text))
    live = replace(looked, offer="", screen=FakeScreen(), said=[])
    live.consent = replace(looked.consent, screen=live.screen, dialog=FakePerson())
    reply(live, "what should I change?")
    assert live.offer == ""

    monkeypatch.setattr(live.desk.context.target, "kind", "ssh", raising=False)
    reply(live, "what should I change?")
    assert "Shall I try P1 live?" in live.screen.text  # type: ignore[attr-defined]
    reply(live, "yes")

    assert started == ["/try P1"]


def test_what_a_model_added_is_labelled_as_its_own() -> None:
    @dataclass
    class Adding(FakeBrain):
        def contribution(self, board: Board, facts: Facts) -> Contribution:
            return Contribution(model="m", remarks=(Remark("", "closing", "the pool is large", ("E1",)),), struck=2)

    session = fake_session(probe(), brain=Adding([ToolCall("fake.probe", "to see")]))

    reply(session, "why is it slow?")

    assert "  THE MODEL     in closing: the pool is large [E1]" in screen_of(session).text
    assert "2 statements were struck" in screen_of(session).text


def test_an_earlier_session_about_the_target_is_compared_with() -> None:
    first = begin(str(SEED), Options(FakeScreen()))
    reply(first, "why is it slow?")
    first.hear("why is it slow?")
    evidence = first.desk.ledger.evidence
    row = next(n for n, item in enumerate(evidence) if "bench.levels" in item.facts)
    leave(first)
    again = begin(str(SEED), Options(FakeScreen()))
    faster = [
        {"concurrency": 1, "output_throughput": 24.9},
        {"concurrency": 8, "output_throughput": 180.0},
    ]
    again.desk.ledger.evidence[row] = replace(
        again.desk.ledger.evidence[row], facts={"bench.levels": faster, "bench.failed": 0}
    )

    reply(again, "compare with before")

    shown = screen_of(again).text
    assert f"since session {first.id}" in shown
    assert "tok/s at C=1: 24.7, now 24.9 (+0.8%, within the noise)" in shown
    assert "tok/s at C=8: 95.6, now 180 (+88%)" in shown


def test_whether_it_helped_is_told_by_what_was_tried(seed: Session) -> None:
    row = {"set": {"--pp-max-micro-batch-size": "1"}, "before": 95.0, "after": 178.0, "noise_share": 0.014}
    facts = {"trial.comparisons": [{**row, "outcome": "better"}], "trial.restored": True}
    seed.desk.ledger.add("tune.set_limit", Finding("trial", facts, authority=3))

    take_turn(seed, "did it help?")

    assert "better: 95, then 178 tok/s, +87% (noise 1.4%)" in screen_of(seed).text


def test_a_question_about_health_is_answered_by_the_verdict_each_time(answered: Callable[[str], str]) -> None:
    answered("why is it slow?")

    for question in ("is it healthy?", "is anything wrong with it?"):
        assert answered(question).startswith("DIAGNOSED Micro-batches unfilled (PP001)")


def test_words_that_are_taken_for_a_complaint_are_said_to_be(seed: Session) -> None:
    take_turn(seed, "it misbehaves since monday")

    assert "I take that for: why is it slow?" in screen_of(seed).text


def test_a_long_pasted_text_is_answered_as_text_of_a_log(answered: Callable[[str], str]) -> None:
    line = (
        "[2026-05-02 14:24:25 PP0] Decode batch, #running-req: 1, #token: 55, token usage: 0.00, gen throughput: 24.1"
    )

    assert "That is text of a log." in answered("\n".join([line] * 3_000))


@pytest.mark.bench
@pytest.mark.parametrize("filler", ["x=1 --flag-", "a: b\n"])
def test_the_time_for_a_pasted_text_grows_with_its_length(answered: Callable[[str], str], filler: str) -> None:
    assert growth(answered, filler, 20_000) < LINEAR


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("/predict limit 1 and 8,8,8,8,8,8,8,5", ("With limit 1, layers 8,8,8,8,8,8,8,5, at C=8: 168-206 tok/s",)),
        ("what if I set limit 1 and split 8,8,8,8,8,8,8,4?", ("these layers add up to 60, and the model has 61",)),
        ("what if limit 1 and fp8 kv?", ("With limit 1, at C=8:", '"fp8 kv": not understood, and not in this answer')),
        ("what if limit 1 and tp2 pp4?", ("With limit 1, at C=8:", "TP2 PP4 in place of PP8 TP1")),
        (
            "what if limit is 1 and --chunked-prefill-size 4096?",
            ("With limit 1, at C=8:", "--chunked-prefill-size 4096: the pipeline model does not price it"),
        ),
        ("/predict limit 4", ("cannot be told", "because 1 to 3.3 slots may be filled now", "What would tell:")),
        ("what if the limit is 1 and the split is 8,8,8,8,8,8,8,5?", ("stage-bound: stage 0 takes",)),
        ("what if the limit is 1?", ("stage-bound: stage 7 takes",)),
    ],
)
def test_nothing_said_in_a_what_if_is_dropped_without_a_word(
    question: str, parts: tuple[str, ...], answered: Answer
) -> None:
    shown = answered(question)

    assert [part for part in parts if part not in shown] == []
