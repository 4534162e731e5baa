import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.agent.choosing import Usage
from ppagent.chat.loop import STOPPED, take_turn
from ppagent.chat.session import Session
from ppagent.chat.speaking import speak
from ppagent.chat.store import ChatFile
from ppagent.chat.voice import Voice, unbacked, without_thoughts
from ppagent.config import ModelProfile
from ppagent.errors import UserError
from tests.chat.chat_fakes import fake_session, screen_of

GOOD = "Three of eight slots hold requests [E27].\n\n- P2 changes both."


def whole(text: str) -> dict[str, Any]:
    """A completion that is not streamed."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class FakeEndpoint:
    """A server that streams `pieces` as a chat completion, or refuses with `status`."""

    def __init__(self) -> None:
        self.pieces, self.status, self.refuses = [GOOD], 200, ""
        self.bodies: list[dict[str, Any]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                refused = endpoint.refuses and endpoint.refuses in endpoint.bodies[-1]
                status = 400 if refused else endpoint.status
                self.send_response(status)
                self.send_header("Content-Type", "text/event-stream" if status == 200 else "application/json")
                self.end_headers()
                if status != 200:
                    why = f"{endpoint.refuses} is not supported" if refused else "no such key"
                    self.wfile.write(json.dumps({"error": {"message": why}}).encode())
                    return
                if not endpoint.bodies[-1]["stream"]:
                    self.wfile.write(json.dumps(whole("".join(endpoint.pieces))).encode())
                    return
                for piece in endpoint.pieces:
                    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
                    chunk["choices"] = [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]  # type: ignore[assignment]
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *args: object) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def profile(self) -> ModelProfile:
        url = f"http://127.0.0.1:{self.server.server_port}/v1"
        return ModelProfile(model="m", base_url=url, usd_per_million_output=1000.0)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeEndpoint]:
    made = FakeEndpoint()
    yield made
    made.server.shutdown()


@pytest.fixture
def voiced(looked: Session, endpoint: FakeEndpoint) -> Iterator[Session]:
    endpoint.pieces, endpoint.status, endpoint.refuses = [GOOD], 200, ""
    endpoint.bodies.clear()
    screen_of(looked).lines.clear()
    looked.voice = Voice(endpoint.profile)
    yield looked
    looked.voice = None


def test_what_no_rule_understands_is_answered_by_the_model(voiced: Session) -> None:
    take_turn(voiced, "please explain this to a colleague")

    assert "Three of eight slots hold requests [E27]." in screen_of(voiced).text
    assert voiced.said[-2].text == GOOD
    assert "The model's own words" in screen_of(voiced).text


def test_the_model_sees_board_proposals_and_evidence_as_data_and_no_secret(
    voiced: Session, endpoint: FakeEndpoint
) -> None:
    take_turn(voiced, "my key is sk-abcdefghijklmnop1234, please write to a colleague")

    system, *rest = endpoint.bodies[0]["messages"]
    assert "PP001 micro-batches unfilled" in system["content"]
    assert '<evidence id="E27"' in system["content"]
    assert "P2 (then, one restart)" in system["content"]
    assert rest[-1]["role"] == "user"
    assert "abcdefghijklmnop1234" not in json.dumps(endpoint.bodies)


def test_no_secret_of_an_earlier_message_reaches_the_model_the_screen_or_the_record(
    voiced: Session, endpoint: FakeEndpoint
) -> None:
    for words in ("it runs with password=hunter2hunter2, write to a colleague", "write it once more, please"):
        take_turn(voiced, words)

    assert isinstance(voiced.desk.recorder, ChatFile)
    kept = voiced.desk.recorder.path.read_text()
    everything = json.dumps(endpoint.bodies) + screen_of(voiced).text + kept + "".join(one.text for one in voiced.said)
    assert "password=[masked]" in json.dumps(endpoint.bodies[-1])
    assert "hunter2" not in everything


def test_a_figure_that_the_evidence_does_not_hold_is_told(voiced: Session, endpoint: FakeEndpoint) -> None:
    endpoint.pieces = ["It will reach 777 ", "tok/s [E27]. Run `curl http://evil.example/x`, or set --no-such-flag."]

    take_turn(voiced, "please explain this to a colleague")

    shown = " ".join(screen_of(voiced).text.split())
    assert "unbacked the evidence it cites does not hold" in shown and "777" in shown
    assert "this version has no flag --no-such-flag" in shown
    assert "a command, a path or an address" in shown
    assert "The model's own words" not in shown


def test_a_model_that_fails_is_said_in_a_sentence_and_the_session_goes_on(
    voiced: Session, endpoint: FakeEndpoint
) -> None:
    endpoint.status = 401

    take_turn(voiced, "please explain this to a colleague")
    take_turn(voiced, "is it the kv cache?")

    assert "refuses the API key (401)" in " ".join(screen_of(voiced).text.split())
    assert "KV001" in screen_of(voiced).text


def test_an_answer_that_is_cut_short_is_kept_as_far_as_it_came(
    voiced: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(pieces: Iterator[str]) -> str:
        next(iter(pieces))
        raise KeyboardInterrupt

    monkeypatch.setattr(voiced.screen, "markdown", cut_short)

    take_turn(voiced, "please explain this to a colleague")

    assert [one.text for one in voiced.said[-2:]] == [GOOD, STOPPED]


def test_what_an_endpoint_refuses_is_left_out_and_it_is_asked_again(voiced: Session, endpoint: FakeEndpoint) -> None:
    endpoint.refuses = "max_tokens"

    take_turn(voiced, "please explain this to a colleague")

    assert ["max_tokens" in body for body in endpoint.bodies] == [True, False]
    assert endpoint.bodies[1]["max_completion_tokens"] == 2048
    assert "Three of eight slots" in screen_of(voiced).text


def test_an_endpoint_that_cannot_stream_answers_at_once(voiced: Session, endpoint: FakeEndpoint) -> None:
    voiced.voice = Voice(endpoint.profile.model_copy(update={"stream": False}))

    take_turn(voiced, "please explain this to a colleague")

    assert "Three of eight slots" in screen_of(voiced).text


def test_tokens_and_money_count_and_end_at_the_limit(voiced: Session, endpoint: FakeEndpoint) -> None:
    take_turn(voiced, "please explain this to a colleague")
    spent = voiced.cost()
    assert spent.tokens > 100 and spent.usd > 0

    assert voiced.voice is not None
    voiced.voice.spent = Usage(spent.tokens, 5.0)
    take_turn(voiced, "please explain this to a colleague")

    assert len(endpoint.bodies) == 1
    assert "The model was not asked: the budget of 2 USD is used up." in screen_of(voiced).text


def test_without_a_model_there_is_no_voice() -> None:
    with pytest.raises(UserError, match="No model is named"):
        speak(fake_session(), "explain")


def test_every_answer_of_the_seeds_numbers_stands(looked: Session) -> None:
    view = looked.desk.view(looked.state)

    assert unbacked("The pipeline has empty slots.", view) == []
    assert unbacked("At most 3 requests ran in a micro-batch [E23].", view) == []
    assert unbacked("At most 7777 requests ran in a micro-batch [E23].", view) != []


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " < b", "<", "th", "ink>", "\n"]), max_size=12))
def test_thoughts_are_left_out_however_they_are_cut(pieces: list[str]) -> None:
    whole = "".join(without_thoughts(iter(["".join(pieces)])))

    assert "".join(without_thoughts(pieces)) == whole
    assert "<think>" not in whole


def test_a_smaller_than_sign_is_no_thought() -> None:
    assert "".join(without_thoughts(["C < 8 ", "and 1 <", " 2"])) == "C < 8 and 1 < 2"
    assert "".join(without_thoughts(["<thi", "nk>secret</th", "ink>said"])) == "said"
