"""What people type in a hurry, each with the part of the answer that has to be right, over four verdicts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.chat.loop import take_turn
from ppagent.chat.opening import Options, begin
from ppagent.chat.questions import meaning
from ppagent.chat.session import Session
from tests.chat.chat_fakes import FakeScreen, screen_of

INCIDENTS = Path(__file__).parents[2] / "evals" / "incidents"
SEED, HEALTHY, OPEN, NO_START = "kimi-k26-pp8", "healthy-pp4-loaded", "metric-missing", "la004-ambiguous-flag"


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    """One of each verdict, opened when it is first asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield {}


def ask(sessions: dict[str, Session], name: str, text: str) -> str:
    if name not in sessions:
        sessions[name] = begin(str(INCIDENTS / name), Options(FakeScreen()))
    screen_of(sessions[name]).lines.clear()
    take_turn(sessions[name], text)
    return " ".join(screen_of(sessions[name]).text.split())


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        (SEED, "whats the slot limit", "The slot limit is 369: each slot of 8 takes so many requests at the"),
        (SEED, "what is the slot limit?", "The slot limit is 369"),
        (HEALTHY, "whats the slot limit", "The slot limit is 16: each slot of 4"),
        (OPEN, "whats the slot limit", "Nothing that was seen tells the slot limit."),
        (SEED, "what is the max batch size", "At most 2954 requests run at a time"),
        (HEALTHY, "how many reqs are running", "As last seen: 16 requests in a micro-batch, 54.6 in flight, queue 0"),
        (OPEN, "how many requests are running", "24 requests in flight [E16]."),
        (SEED, "what does --max-running-requests do?", "At most 2954 requests run at a time"),
        (SEED, "kv cache size?", "The KV pool holds 1512448 tokens on one rank"),
        (SEED, "context length?", "The context length is 262144 tokens [E17]."),
        (SEED, "wat version", "SGLang 0.5.11"),
        (SEED, "temps ok?", "thermal or hardware throttle (HW002) is ruled out"),
        (SEED, "is my config ok", "DIAGNOSED Micro-batches unfilled (PP001)"),
        (SEED, "is the model too big", "No, out of memory at load (LA003) is ruled out"),
        (SEED, "is it fixed now", "This is no live server: a second look finds the same"),
        (SEED, "what should i tell my boss", "forecast at C=8: 162-198 tok/s"),
        (SEED, "anything else", "PP001"),
        (NO_START, "what crashed", "ambiguous option: --cuda-graph-max-bs"),
        (SEED, "is it memory?", "No, out of memory at load (LA003) is ruled out: the server reported itself"),
        (NO_START, "oom?", "No, out of memory at load (LA003) is ruled out: another reason stands in the log"),
        (SEED, "is it a hardware problem", "No, power cap (HW001) is ruled out: GPU 0 reaches 199 W of its limit"),
        (SEED, "which gpu is the slowest", "GPU 6 31 % utilisation, 190 W, 2280 MHz, 41 C"),
        (NO_START, "are all gpus healthy", "No card was sampled here"),
        (SEED, "any errors in the log?", "> [2026-05-02 14:03:11] Pipeline parallelism is incompatible with"),
        (NO_START, "did it crash", "> launch_server.py: error: ambiguous option: --cuda-graph-max-bs"),
        (OPEN, "any errors in the log?", "That cannot be told: the log was not read"),
        (SEED, "can i just restart it", "Not with the same command: what was found comes back with it: decode"),
        (HEALTHY, "will a restart fix it", "There is nothing that it would mend."),
        (OPEN, "would a reboot help", "That cannot be told"),
        (SEED, "what would 0.5.23 change", "SGLang 0.5.23 would accept the launch command seen here"),
        (SEED, "what would 0.5.23 change", "--disable-cuda-graph is deprecated and still works in 0.5.23."),
        (NO_START, "upgrade to 0.5.23?", "SGLang 0.5.23 would refuse the launch command seen here"),
        (SEED, "how do i get back", '{"server_args": {"pp_max_micro_batch_size": 369}}'),
        (SEED, "how do I roll it back?", "set the old value (369) the same way"),
        (SEED, "rollback?", "set the old value (369) the same way"),
        (SEED, "how do i go back to the old command", "that command [E14]: /root/venv_sglang211/bin/python -m sglang"),
        (SEED, "give me the cmd", "set_internal_state"),
        (SEED, "how do i verify it worked", "What shows that a change worked: after P1"),
        (SEED, "what do u not know", "would tell more"),
        (SEED, "how confident r u", "micro-batches unfilled (PP001): supported, 0.99"),
        (SEED, "tldr", "DIAGNOSED Micro-batches unfilled (PP001)"),
        (SEED, "summary for my boss", "forecast at C=8: 162-198 tok/s (now 95.6)"),
        (HEALTHY, "tldr", "HEALTHY Nothing is wrong with the server"),
        (HEALTHY, "what happens at 64 users", "At C=64 it gives 709 tok/s, as measured [E30]."),
        (SEED, "what happens at 64 users", "At C=64 nothing was measured, so that cannot be told"),
        (HEALTHY, "how much faster wuld it be", "Nothing is proposed, so there is no gain to forecast. Measured: 709"),
        (SEED, "--disable-cuda-graph needed?", "No --disable-cuda-graph: P2 P3 would drop it."),
        (SEED, "is pp8 tp1 better", "PP8 TP1 [E17] is what runs now."),
        (
            SEED,
            "python -m sglang.launch_server --model-path /m --pp-size 8 --max-running-requests 8",
            "SGLang 0.5.11 accepts that command.",
        ),
        (SEED, "--pp-size 8 --disable-cuda-graph --max-running-requests 48 is this ok?", "+ --max-running-requests 48"),
        (NO_START, "--tp-size 2 --cuda-graph-max-bs 64 --port 30000 ok?", "SGLang 0.5.20 refuses that command."),
    ],
)  # fmt: skip
def test_what_is_typed_in_a_hurry(name: str, text: str, part: str, sessions: dict[str, Session]) -> None:
    assert part in ask(sessions, name, text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("y is it slow", "why"),
        ("how many users can it take", "crowd"),
        ("what if the slot limit is 4 at C=16", "what_if"),
        ("should i raise the slot limit", "advice"),
        ("what is the max throughput", "gain"),
        ("keep it as it is?", "nothing"),
        ("can you restart it", "restart"),
        ("which gpus should i buy", "cannot"),
        ("the error rate is 3", "told"),
        ("what is our p99", "cannot"),
        ("what about P1", "proposal"),
    ],
)
def test_what_stands_close_to_it_keeps_its_meaning(text: str, kind: str) -> None:
    assert meaning(text, looked=True) == kind


def test_what_is_asked_in_a_session_is_not_told_as_what_was_recorded(sessions: dict[str, Session]) -> None:
    ask(sessions, SEED, "this is slow")

    shown = ask(sessions, SEED, "status")

    assert 'asked "gpu util at 150/200 out of 600' in shown
    assert "this is slow" not in shown


def test_a_forecast_in_short_says_what_it_takes_for_granted_once(sessions: dict[str, Session]) -> None:
    shown = ask(sessions, SEED, "what should i change?")

    assert shown.count("assumes the fill now may be 1 to 3.3 slots; both are in the range") == 1


def test_what_was_read_and_did_not_tell_is_said_to_be_that(sessions: dict[str, Session]) -> None:
    shown = ask(sessions, "lab-no-load-pp2", "why slow")

    assert "the log's decode lines (read here, which did not tell): count #running-req on stage 0" in shown


def test_what_a_recording_lacks_stands_in_a_line_and_in_words(sessions: dict[str, Session]) -> None:
    shown = ask(sessions, OPEN, "show me the evidence")

    assert "not recorded: the server's own settings, the start of the log, the log's decode lines, a profiler" in shown
    assert "http.info: hosts/node" not in shown
