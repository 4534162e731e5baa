"""incident.yaml says what a person said and what was found, and keeps what an earlier recording said."""

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ppagent.record.incident import Incident, Words, kebab, read_incident


def written(**fields: object) -> dict[str, object]:
    incident = Incident(**{"name": "My Case", "words": Words(), "stack": {"engine": "sglang"}, **fields})  # type: ignore[arg-type]
    return dict(yaml.safe_load(incident.text()))


def test_a_new_incident_is_measured_and_asks_what_was_asked() -> None:
    words = Words("Why slow?", "Two stages", ("Four clients.",))
    assert written(words=words, notes=["n"]) == {
        "schema_version": 1, "id": "my-case", "title": "Two stages", "question": "Why slow?",
        "stated": ["Four clients."], "origin": {"kind": "measured"}, "stack": {"engine": "sglang"}, "tags": [],
        "notes": ["n"],
    }  # fmt: skip


def test_without_a_title_it_is_called_by_what_runs_there() -> None:
    assert written(stack={"model": "Kimi", "gpus": "8x H200"})["title"] == "Kimi on 8x H200"
    assert written()["title"] == "An SGLang server (My Case)"


def test_what_was_said_before_stays_unless_it_is_said_anew() -> None:
    before = {"id": "old", "title": "t", "question": "q", "stated": ["s"], "origin": {"kind": "synthetic"},
              "stack": {"version": "0.5.9"}, "tags": ["pp"], "author": "me"}  # fmt: skip
    found = written(before=before, words=Words(question="new", stated=("more",)))
    assert found["question"] == "new"
    assert found["stated"] == ["s", "more"]
    assert found["origin"] == {"kind": "synthetic"}
    assert found["stack"] == {"engine": "sglang", "version": "0.5.9"}
    assert (found["id"], found["title"], found["tags"], found["author"]) == ("old", "t", ["pp"], "me")


def test_secrets_in_what_a_person_says_are_masked() -> None:
    assert "hunter22" not in str(written(words=Words("why? password=hunter22", stated=("--api-key hunter22",))))


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_any_words_make_yaml_that_can_be_read(question: str, title: str, stated: list[str]) -> None:
    found = written(words=Words(question, title, tuple(stated)))
    assert len(found["stated"]) == len(stated)  # type: ignore[arg-type]


def test_yaml_that_would_grow_without_end_is_cut_flat() -> None:
    bomb = "a: &a [1, 1]\nb: &b [*a, *a]\nstated: [*b, *b, word]\nstack: {version: *b, model: m}\norigin: here\n"
    assert read_incident(bomb) == {"a": [1, 1], "b": [], "stated": ["word"], "stack": {"model": "m"}}
    assert read_incident("[1]") == read_incident("a: [") == {}


@given(st.text())
def test_an_id_has_small_letters_digits_and_dashes(name: str) -> None:
    found = kebab(name)
    assert found
    assert all(part.isalnum() and part.isascii() and part == part.lower() for part in found.split("-"))


def test_a_number_longer_than_python_writes_is_no_value_and_as_a_name_it_is_cut() -> None:
    huge = "0x" + "f" * 5000
    read = read_incident(f"a: {huge}\n? {huge}\n: b\nstated: [{huge}, slow]\nstack: {{? {huge} : x, version: 0.5.9}}\n")
    name = "0x" + "f" * 58
    assert read == {name: "b", "stated": ["slow"], "stack": {name: "x", "version": "0.5.9"}}
