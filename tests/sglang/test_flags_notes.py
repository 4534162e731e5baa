import pytest
from packaging.version import Version

from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.history import catalogue_of, spans, versions_known
from ppagent.sglang.flags.notes import Note, Rename, _tables, notes_on, renamed_from, renamed_to
from ppagent.sglang.flags.successors import matching, nearest, successor

NOTES, RENAMES = _tables()


@pytest.mark.parametrize("note", NOTES, ids=lambda note: f"{note.flags[0]} {note.since}")
def test_a_note_is_about_flags_that_exist_in_its_versions(note: Note) -> None:
    for flag in note.flags:
        assert any(note.holds_in(Version(v)) and flag in catalogue_of(v).by_spelling for v in versions_known())
    assert {note.since, note.until} - {""} <= set(versions_known())
    assert note.source and note.text.endswith(".")


@pytest.mark.parametrize("rename", RENAMES, ids=lambda rename: rename.old)
def test_a_rename_ends_one_flag_and_begins_the_other_in_the_same_version(rename: Rename) -> None:
    known = versions_known()
    assert spans(rename.new)[0].since == rename.since
    assert spans(rename.old)[-1].until == known[known.index(rename.since) - 1]
    assert spans(rename.old)[-1].flag.type == spans(rename.new)[0].flag.type


def test_notes_are_chosen_by_version() -> None:
    assert notes_on(("--enable-mixed-chunk",), "0.5.10") and not notes_on(("--enable-mixed-chunk",), "0.5.11")
    assert len(notes_on(("--speculative-algorithm",))) == 2


def test_the_depth_is_said_not_to_fill_slots() -> None:
    (note,) = notes_on(("--pp-async-batch-depth",), "0.5.10")
    assert "does not fill an empty slot" in " ".join(note.text.split())


def test_renames_are_known_from_both_ends() -> None:
    old, new = "--max-micro-batch-size", "--pp-max-micro-batch-size"
    assert renamed_to(old) == renamed_from(new) == Rename(old, new, "0.5.3.post1")


@pytest.mark.parametrize(
    ("version", "written", "instead"),
    [
        ("0.5.20", "--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"),
        ("0.5.10", "--max-micro-batch-size", "--pp-max-micro-batch-size"),
        ("0.4.10", "--pp-max-micro-batch-size", "--max-micro-batch-size"),
        ("0.5.23", "--stream-output", "--incremental-streaming-output"),
        ("0.5.23", "--nsa-prefill", "--dsa-prefill-backend"),
        ("0.5.20", "--disable-piecewise-cuda-graph", "--cuda-graph-backend-prefill=disabled"),
        ("0.5.23", "--disable-cuda-graph", "--cuda-graph-backend-{decode,prefill}=disabled"),
        ("0.5.23", "--nonsense", None),
        ("0.5.10", "--pp-size", None),
        ("0.5.23", "--torchao-config", None),
    ],
)
def test_what_takes_the_place_of_a_spelling(version: str, written: str, instead: str | None) -> None:
    assert successor(written, catalogue_of(version)) == instead


def test_nearest_names_come_first_by_likeness_then_by_what_they_contain() -> None:
    found = nearest("--pp-asynch-depth", catalogue_of("0.5.23"))
    assert found[0] == "--pp-async-batch-depth"
    assert "--pp-size" in nearest("--pp-siz", catalogue_of("0.5.23"))


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("pp", ["--pp-size", "--no-opp"]),
        ("--pp*", ["--pp-size"]),
        ("PARALLEL", ["--pp-size"]),
        ("batch", ["--bs"]),
        ("x?", []),
    ],
)
def test_flags_are_found_by_part_of_a_name_or_field(pattern: str, names: list[str]) -> None:
    flags = (
        Flag("--pp-size", "pp_size", ("--pipeline-parallel-size",)),
        Flag("--no-opp", "o"),
        Flag("--bs", "batch_size"),
    )
    assert [flag.name for flag in matching(pattern, Catalogue("", flags))] == names
