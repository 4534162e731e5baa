import pytest

from ppagent.agent.board import compute_board
from ppagent.brains.llm.checks import Grounds, Statement, named_causes, problems, says_to_act, tidied
from ppagent.evidence.evidence import Evidence
from ppagent.evidence.facts import Facts
from ppagent.evidence.masking import MASK
from tests.agent.fakes import FakeCause

EVIDENCE = (Evidence("E1", "t", "server.log", {"decode.lines": 32}, "Decode batch"), Evidence("E2", "t", "source", {}))
GROUNDS = Grounds(EVIDENCE, {"--pp-size"}, {"PP001"})


def wrong(says: str, *cites: str) -> list[str]:
    return problems(Statement(tidied(says), cites), GROUNDS)


def test_a_sentence_with_its_evidence_passes() -> None:
    assert wrong("32 decode lines speak for PP001 with --pp-size", "E1") == []


@pytest.mark.parametrize(
    ("says", "cites", "why"),
    [
        ("", ("E1",), "it says nothing"),
        ("so it is", (), "it cites no evidence"),
        ("so it is", ("E9",), "there is no evidence E9"),
        ("so it is", ("E2",), "E2 holds no quote to stand on"),
        ("as E2 shows", ("E1",), "it names E2 without citing it"),
        ("33 lines", ("E1",), "the evidence it cites does not hold 33"),
        ("with --warp", ("E1",), "this version has no flag --warp"),
        ("it is ZZ123", ("E1",), "there is no cause ZZ123"),
        ("x" * 500, ("E1",), "it is longer than 400 characters"),
    ],
)
def test_what_is_wrong_with_a_sentence_is_said_in_words(says: str, cites: tuple[str, ...], why: str) -> None:
    assert why in wrong(says, *cites)


@pytest.mark.parametrize(
    "says",
    [
        "see http://evil.example/x",
        "fetch it from evil.example.com",
        "mail ops@evil.example",
        "go to 203.0.113.9",
        "reach fe80::1:2:3",
        "run curl -s x",
        "then `reboot`",
        "use $(id)",
        "rm -rf it all",
        "copy /etc/shadow to it",
        "pip install sglang-fix",
        "a; sh x",
        "sudo -i first",
        "nvidia-smi -pl 600 helps",
        "kubectl delete it",
        "www.evil.example",
    ],
)
def test_a_sentence_may_not_name_a_command_a_path_or_an_address(says: str) -> None:
    assert says_to_act(tidied(says))


@pytest.mark.parametrize(
    "says",
    ["the scheduler waits for the ring, e.g. in decode", "1/2 of it: PP0 (stage 0) and/or PP1", "tok/s at C=1/4/8"],
)
def test_plain_sentences_are_no_commands(says: str) -> None:
    assert not says_to_act(says)


def test_text_is_put_on_one_line_without_control_characters_and_secrets() -> None:
    said = tidied("the key\x1b[31m is\n sk-abcdefghijklmnop1234\u202e.")

    assert said == f"the key is {MASK}"


def test_causes_are_recognised_by_id_and_by_all_words_of_their_name() -> None:
    causes = [FakeCause("KV001", "x.a", name="KV pool exhausted"), FakeCause("PP001", "x.b", name="slots unfilled")]
    board = compute_board(Facts([Evidence("E1", "t", "a", {"x.b": True})]), causes)

    assert named_causes("the exhausted pool of KV", board) == ["KV001"]
    assert named_causes("not KV001", board) == ["KV001"]
    assert named_causes("the pool", board) == []
    assert named_causes("slots are unfilled", board) == [], "a supported cause may be named"
    assert named_causes("not KV001", board, allowed=("KV001",)) == []
