import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import httpx2
import pytest
import respx

from ppagent.brains.llm.client import OpenAiModel
from ppagent.brains.llm.model import Called, ContextTooLong, Function, Message, ModelFailed
from tests.brains.wire_samples import BASE, call, chunk, look_in_pieces, piece, refused, said, sse, usage, whole

LOOK = Function(
    "look", "Ask tools.", {"type": "object", "properties": {"tools": {}}, "required": ["tools"]}, strict=True
)
READ = Function("read_evidence", "Read.", {"type": "object", "properties": {"id": {}}})
ASKED = [Message("system", "You help."), Message("user", "Why slow?")]
TWO_CALLS = [
    *ASKED,
    Message("assistant", "", (Called("a", "look", "{}"), Called("b", "read_evidence", "{}"))),
    Message("tool", "first", call_id="a"),
    Message("tool", "second", call_id="b"),
]


@pytest.fixture
def wire() -> Iterator[respx.MockRouter]:
    with respx.mock(using="httpcore2", base_url=BASE, assert_all_called=False) as router:
        yield router


class Waits:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)

    def now(self) -> float:
        return sum(self.waited)


def model(waits: Waits | None = None, name: str = "m", **options: Any) -> OpenAiModel:
    waits = waits or Waits()
    return OpenAiModel(BASE, name, "sk-test", sleep=waits.sleep, clock=waits.now, **options)


def ask(asked: OpenAiModel, messages: list[Message] | None = None, seconds: float = 300) -> Any:
    return asked.complete(messages or ASKED, [LOOK, READ], seconds=seconds)


def stream(content: bytes) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)


def completions(wire: respx.MockRouter, *answers: Any) -> respx.Route:
    return wire.post("/chat/completions").mock(side_effect=list(answers))


def body(route: respx.Route, number: int = -1) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(route.calls[number].request.content)
    return read


def test_a_mocked_request_is_counted_so_that_the_mock_is_known_to_work(wire: respx.MockRouter) -> None:
    route = completions(wire, stream(said("hello")))

    assert ask(model()).text == "hello"
    assert route.call_count == 1


def test_no_real_connection_is_possible() -> None:
    with pytest.raises(pytest.fail.Exception, match="real connection to 192.0.2.1"):
        socket.socket().connect(("192.0.2.1", 80))
    with pytest.raises(pytest.fail.Exception, match="models.test was looked up"):
        ask(model())


def test_calls_in_pieces_are_put_together_with_the_tokens_that_the_server_counted(wire: respx.MockRouter) -> None:
    completions(wire, stream(look_in_pieces()))

    reply = ask(model())

    assert [(c.name, json.loads(c.arguments)) for c in reply.calls] == [
        ("look", {"tools": ["logs.decode"], "why": ""}),
        ("read_evidence", {"id": "E1"}),
    ]
    assert (reply.spent.prompt_tokens, reply.spent.completion_tokens, reply.spent.estimated) == (1200, 40, False)


def test_calls_that_are_all_numbered_nought_are_told_apart_by_their_ids(wire: respx.MockRouter) -> None:
    pieces = [
        chunk({"tool_calls": [piece(0, "a", "look", '{"tools"')]}),
        chunk({"tool_calls": [piece(0, text=": []}")]}),
        chunk({"tool_calls": [piece(0, "b", "read_evidence", '{"id": ')]}),
        chunk({"tool_calls": [piece(0, text='"E2"}')]}),
        chunk({}, "tool_calls"),
    ]
    completions(wire, stream(sse(pieces)))

    assert [c.arguments for c in ask(model()).calls] == ['{"tools": []}', '{"id": "E2"}']


def test_tokens_are_estimated_where_the_server_does_not_count(wire: respx.MockRouter) -> None:
    completions(wire, stream(sse([chunk({"content": "x" * 35}), chunk({}, "stop")])))

    spent = ask(model()).spent

    assert spent.estimated and spent.completion_tokens == 10
    assert 60 < spent.prompt_tokens < 200


def test_thoughts_are_kept_apart_wherever_the_server_puts_them(wire: respx.MockRouter) -> None:
    set_apart = sse([chunk({"reasoning_content": "hm"}), chunk({"content": "so"}), chunk({}, "stop")])
    in_tags = said("<think>let me\nsee</think>so")
    unopened = said("let me see</think>so")
    completions(wire, stream(set_apart), stream(in_tags), stream(unopened))

    replies = [ask(model()) for _ in range(3)]

    assert [r.text for r in replies] == ["so", "so", "so"]
    assert [r.reasoning for r in replies] == ["hm", "let me\nsee", "let me see"]


def test_a_fenced_object_with_a_known_name_is_the_call_where_there_is_none(wire: respx.MockRouter) -> None:
    text = 'I look.\n```json\n{"name": "look", "arguments": {"tools": ["logs.decode"]}}\n```'
    completions(wire, stream(said(text)))

    (made,) = ask(model()).calls

    assert (made.name, json.loads(made.arguments)) == ("look", {"tools": ["logs.decode"]})


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, 408])
def test_what_may_pass_is_tried_again_after_longer_and_longer_waits(wire: respx.MockRouter, status: int) -> None:
    waits = Waits()
    busy = httpx.Response(status, json=refused("busy"))
    completions(wire, busy, busy, stream(said("ok")))

    assert ask(model(waits)).text == "ok"
    assert waits.waited == [1.0, 2.0]


def test_the_server_may_say_how_long_to_wait_within_reason(wire: respx.MockRouter) -> None:
    waits = Waits()
    busy = [httpx.Response(429, headers={"retry-after": after}, json=refused("busy")) for after in ("7", "9999")]
    completions(wire, *busy, stream(said("ok")))

    ask(model(waits))

    assert waits.waited == [7.0, 30.0]


@pytest.mark.parametrize(
    "error", [httpx2.ConnectError("refused"), httpx2.ReadTimeout("slow"), httpx2.RemoteProtocolError("x")]
)
def test_a_dead_endpoint_is_said_in_one_sentence_with_the_tries(wire: respx.MockRouter, error: Exception) -> None:
    route = wire.post("/chat/completions").mock(side_effect=error)

    with pytest.raises(ModelFailed, match=r"^models\.test .*, after 4 tries\.$"):
        ask(model())
    assert route.call_count == 4


def test_no_try_begins_that_could_not_end_in_time(wire: respx.MockRouter) -> None:
    route = wire.post("/chat/completions").mock(return_value=httpx.Response(503))

    with pytest.raises(ModelFailed, match="after one try"):
        ask(model(), seconds=1.0)
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("status", "message", "says"),
    [
        (
            401,
            "Incorrect API key provided: sk-abcdefghijklmnop",
            "models.test refuses the API key (401): set OPENAI_API_KEY",
        ),
        (403, "no", "models.test refuses the API key (403)"),
        (404, "The model `m` does not exist", "models.test has no model 'm': name one that it serves with --model."),
        (400, "Model 'm' not found", "models.test has no model 'm'"),
        (404, "Not Found", "the base URL mostly ends in /v1"),
        (307, "moved", "sends requests elsewhere (307), which is not followed"),
        (422, "messages[3] is bad", "refused the request (422): messages[3] is bad."),
    ],
)
def test_what_no_retry_can_mend_ends_at_once_in_one_sentence(
    wire: respx.MockRouter, status: int, message: str, says: str
) -> None:
    headers = {"location": "http://evil.test/v1"} if status == 307 else {}
    route = wire.post("/chat/completions").mock(
        return_value=httpx.Response(status, headers=headers, json=refused(message))
    )

    with pytest.raises(ModelFailed) as failed:
        ask(model())
    assert says in str(failed.value)
    assert "sk-abcdefghijklmnop" not in str(failed.value)
    assert route.call_count == 1


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        "request (9000 tokens) exceeds the available context size",
    ],
)
def test_a_context_that_is_too_long_has_an_error_of_its_own(wire: respx.MockRouter, message: str) -> None:
    wire.post("/chat/completions").mock(return_value=httpx.Response(400, json=refused(message)))

    with pytest.raises(ContextTooLong, match="too long for m"):
        ask(model())


@pytest.mark.parametrize(
    ("refusal", "left_out"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("Unsupported value: 'temperature' does not support 0", "temperature"),
        ("Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'", "max_tokens"),
        ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser', "tools"),
        ("tools param requires --jinja flag", "tools"),
        ("streaming is not supported", "stream"),
    ],
)
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_feature_that_the_server_refuses_is_left_out_at_once_and_from_then_on(
    wire: respx.MockRouter, refusal: str, left_out: str, status: int
) -> None:
    waits, asked = Waits(), model()
    fine = httpx.Response(200, json=whole("ok")) if left_out == "stream" else stream(said("ok"))
    route = completions(wire, httpx.Response(status, json=refused(refusal)), fine, fine)

    assert ask(asked).text == "ok" and ask(asked).text == "ok"

    assert left_out in body(route, 0)
    assert not body(route, 1).get(left_out) and not body(route, 2).get(left_out)
    assert waits.waited == []


def test_a_strict_schema_that_is_refused_is_sent_without_strictness(wire: respx.MockRouter) -> None:
    error = httpx.Response(400, json=refused("Invalid schema for function 'look': strict mode"))
    route = completions(wire, error, stream(said("ok")))

    ask(model())

    assert [("strict" in tool["function"]) for tool in body(route, 0)["tools"]] == [True, False]
    assert not any("strict" in tool["function"] for tool in body(route, 1)["tools"])


def test_a_template_that_knows_single_calls_only_gets_them_one_after_another(wire: respx.MockRouter) -> None:
    error = httpx.Response(400, json=refused("This model only supports single tool-calls at once!"))
    route = completions(wire, error, stream(said("ok")))

    ask(model(), TWO_CALLS)

    roles = [m["role"] for m in body(route, 1)["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert body(route, 1)["parallel_tool_calls"] is False
    assert [m["content"] for m in body(route, 1)["messages"] if m["role"] == "tool"] == ["first", "second"]


def test_without_functions_they_are_told_in_words_and_the_next_call_is_asked_for_by_schema(
    wire: respx.MockRouter,
) -> None:
    refusal = httpx.Response(400, json=refused("tools are not supported"))
    answer = '{"name": "look", "arguments": {"tools": ["logs.decode"]}}'
    route = completions(wire, refusal, stream(said(answer)))

    (made,) = ask(model(), TWO_CALLS).calls

    sent = body(route, 1)
    assert made.name == "look"
    assert "- look: Ask tools." in sent["messages"][0]["content"]
    assert [m["role"] for m in sent["messages"]] == ["system", "user", "assistant", "user"]
    schema = sent["response_format"]["json_schema"]["schema"]
    assert [call["properties"]["name"]["const"] for call in schema["anyOf"]] == ["look", "read_evidence"]


def test_a_server_without_schemas_either_is_asked_in_words_alone(wire: respx.MockRouter) -> None:
    refusals = [httpx.Response(400, json=refused(text)) for text in ("no tools here", "response_format is unknown")]
    route = completions(wire, *refusals, stream(said("ok")))

    ask(model())

    assert "response_format" not in body(route) and "tools" not in body(route)


def test_a_stream_that_breaks_off_is_asked_for_again_whole(wire: respx.MockRouter) -> None:
    cut = sse([chunk({"tool_calls": [piece(0, "a", "look", '{"tools": ["lo')]})], done=False)
    route = completions(wire, stream(cut), httpx.Response(200, json=whole(None, [call("look", "{}")], "tool_calls")))

    (made,) = ask(model()).calls

    assert made.arguments == "{}"
    assert [body(route, n)["stream"] for n in (0, 1)] == [True, False]


def test_a_stream_that_promises_calls_and_brings_none_is_asked_for_again_whole(wire: respx.MockRouter) -> None:
    empty = sse([chunk({"content": ""}), chunk({}, "tool_calls"), usage(10, 1)])
    route = completions(wire, stream(empty), httpx.Response(200, json=whole(None, [call("look", "{}")], "tool_calls")))

    assert [c.name for c in ask(model()).calls] == ["look"]
    assert route.call_count == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"text/html": "<html>login</html>"},
        {"application/json": "{}"},
        {"application/json": '{"choices": []}'},
        {"application/json": '{"choices": [{"message": null}]}'},
        {"application/json": "[1, 2"},
        {"application/json": '{"choices": "none"}'},
    ],
)
def test_an_answer_that_is_none_is_a_failure_and_not_a_crash(wire: respx.MockRouter, answer: dict[str, str]) -> None:
    kind, text = next(iter(answer.items()))
    wire.post("/chat/completions").mock(return_value=httpx.Response(200, headers={"content-type": kind}, text=text))

    with pytest.raises(ModelFailed, match="tries"):
        ask(model())


def test_arguments_that_came_as_an_object_are_taken(wire: respx.MockRouter) -> None:
    odd = {"id": "a", "type": "function", "function": {"name": "look", "arguments": {"tools": ["x"]}}}
    refusal = httpx.Response(400, json=refused("no streaming"))
    completions(wire, refusal, httpx.Response(200, json=whole(None, [odd], "tool_calls")))

    assert json.loads(ask(model()).calls[0].arguments) == {"tools": ["x"]}


def test_an_endpoint_of_ones_own_is_asked_which_model_it_serves(wire: respx.MockRouter) -> None:
    wire.get("/models").mock(return_value=httpx.Response(200, json={"object": "list", "data": [{"id": "/models/a"}]}))
    route = completions(wire, stream(said("ok")))
    asked = model(name="")

    ask(asked)

    assert body(route)["model"] == "/models/a" == asked.name


def test_an_endpoint_that_serves_nothing_says_so(wire: respx.MockRouter) -> None:
    wire.get("/models").mock(return_value=httpx.Response(200, json={"object": "list", "data": []}))

    with pytest.raises(ModelFailed, match=r"models\.test serves no model"):
        ask(model(name=""))


def test_the_key_goes_to_the_endpoint_and_the_request_asks_for_no_more_than_its_reply(wire: respx.MockRouter) -> None:
    route = completions(wire, stream(said("ok")))

    ask(model(max_tokens=777))

    assert route.calls[0].request.headers["authorization"] == "Bearer sk-test"
    assert body(route)["max_tokens"] == 777 and body(route)["temperature"] == 0
    assert body(route)["stream_options"] == {"include_usage": True}
