import shutil
from pathlib import Path

import pytest

from ppagent.errors import UserError
from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SourceTree, find_package

FIXTURES = Path(__file__).parent / "fixtures_flags"


def read(name: str) -> Catalogue:
    return read_tree(SourceTree(find_package(FIXTURES / name)))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the tree with structs, to be damaged."""
    return shutil.copytree(FIXTURES / "structs", tmp_path / "tree")


def edit(tree: Path, file: str, old: str, new: str) -> None:
    path = tree / "sglang" / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def read_at(tree: Path) -> Catalogue:
    return read_tree(SourceTree(find_package(tree)))


@pytest.mark.parametrize(("name", "version"), [("plain", "0.5.5"), ("annotated", "0.5.15"), ("structs", "0.5.22")])
def test_the_tree_says_its_version(name: str, version: str) -> None:
    assert read(name).version == version


def test_flags_come_in_the_order_in_which_the_parser_registers_them() -> None:
    names = [flag.name for flag in read("structs")]
    assert names == ["--model-path", "--pp-size", "--load-format", "--paths", "--parser", "--hash"]


def test_a_default_is_resolved_against_the_class() -> None:
    flags = read("plain").by_spelling
    assert flags["--pp-size"].default == 1
    assert flags["--capacity"].default == 10_000
    assert flags["--largest"].default == 2**63 - 1
    assert flags["--depth"].default == -1
    assert flags["--backend"].default == "triton"
    assert flags["--labels"].default == []


def test_a_parsed_name_that_is_moved_to_a_field_counts_as_the_field() -> None:
    flag = read("plain").by_spelling["--pipeline-size"]
    assert (flag.dest, flag.aliases) == ("pp_size", ("--pp-size",))


def test_choices_are_followed_through_appends_sums_imports_and_registries() -> None:
    flags = read("plain").by_spelling
    assert flags["--backend"].choices == ("triton", "flashinfer", "fa3", "aiter")
    assert flags["--modules"].choices == ("q_proj", "k_proj", "all")
    assert flags["--reasoning"].choices == ("auto", "qwen3", "kimi")
    assert flags["--reasoning"].help == "One of ['qwen3', 'kimi']."


def test_types_are_named_json_included() -> None:
    flags = read("plain").by_spelling
    assert [flags[f"--{n}"].type for n in ("capacity", "override", "dtype", "labels")] == [
        "int",
        "json",
        "nullable",
        "str",
    ]


def test_switches_take_no_value_and_are_off_by_default() -> None:
    flag = read("plain").by_spelling["--no-overlap"]
    assert (flag.type, flag.default, flag.takes_value, flag.dest) == ("bool", False, False, "disable_overlap")


def test_a_boolean_optional_flag_has_its_negative_spelling() -> None:
    flag = read("plain").by_spelling["--no-graph"]
    assert (flag.name, flag.action, flag.default) == ("--graph", "boolean_optional", True)


def test_a_hidden_flag_is_listed_as_hidden() -> None:
    flag = read("plain").by_spelling["--secret"]
    assert flag.hidden and flag.help == ""


def test_headings_group_flags() -> None:
    flags = read("plain").by_spelling
    assert flags["--model"].group == "Model and tokenizer"
    assert flags["--depth"].group == "Pipeline"


def test_help_is_as_argparse_prints_it() -> None:
    assert read("plain").by_spelling["--pp-size"].help == "100% of it."


def test_an_action_that_raises_stops_the_launch() -> None:
    flag = read("plain").by_spelling["--enable-old"]
    assert (flag.action, flag.deprecated, flag.replaced_by) == ("deprecated", True, "--backend=triton")
    assert flag.stops_with.startswith("NOTE: --enable-old is deprecated.")


def test_a_default_of_the_machine_is_said_to_be_unknown() -> None:
    catalogue = read("plain")
    assert catalogue.by_spelling["--device"].default is None
    assert len(catalogue.unread) == 1
    assert "The default of --device cannot be told" in catalogue.unread[0]


def test_annotated_fields_become_flags() -> None:
    flags = read("annotated").by_spelling
    assert flags["--model"].required and flags["--model"].name == "--model-path"
    assert (flags["--trust"].action, flags["--trust"].default) == ("store_true", False)
    assert (flags["--tensor-size"].dest, flags["--tensor-size"].group) == ("tp_size", "parallel")
    assert (flags["--graph-bs"].type, flags["--graph-bs"].nargs, flags["--graph-bs"].default) == ("int", "+", None)
    assert (flags["--mode"].type, flags["--mode"].choices) == ("str", ("auto", "slow"))
    assert (flags["--level"].type, flags["--level"].choices) == ("int", (1, 2))
    assert (flags["--config"].type, flags["--config"].choices) == ("json", None)
    assert flags["--no-strict"].action == "boolean_optional"
    assert flags["--trust"].group == "Model and tokenizer"


def test_a_field_may_be_spelled_otherwise_on_the_command_line() -> None:
    flag = read("annotated").by_spelling["--graph-backend"]
    assert (flag.dest, flag.choices) == ("backend", ("full", "disabled"))


def test_fields_without_a_command_line_form_are_no_flags() -> None:
    assert {"--internal", "--plain", "--rank", "--own"} & {
        s for n in ("annotated", "structs") for s in read(n).by_spelling
    } == set()


def test_switches_in_the_environment_count_with_their_declared_default() -> None:
    catalogue = read("annotated")
    assert catalogue.by_spelling["--sampler"].choices == ("ascend", "flashinfer", "pytorch")
    assert "--oracle" not in catalogue.by_spelling


def test_deprecated_actions_are_told_apart() -> None:
    flags = read("annotated").by_spelling
    disable, full, alias = flags["--disable-graph"], flags["--full-graph"], flags["--max-bs"]
    assert (disable.action, disable.default, disable.replaced_by) == ("store_true", False, "--graph-backend=disabled")
    assert (full.action, full.const, full.dest, full.nargs) == ("store_const", "full", "backend", 0)
    assert (alias.action, alias.type, alias.dest, alias.takes_value) == ("store", "int", "graph_bs", True)
    assert all(flag.deprecated and not flag.stops_with for flag in (disable, full, alias))


def test_a_constant_that_still_asks_for_its_value_takes_one() -> None:
    flag = read("annotated").by_spelling["--vendor"]
    assert (flag.takes_value, flag.choices, flag.const) == (True, ("amd",), True)


def test_an_error_message_stops_the_launch_and_its_absence_does_not() -> None:
    flags = read("annotated").by_spelling
    assert (flags["--gone"].stops_with, flags["--gone"].replaced_by) == ("Use --by-hand.", "--by-hand")
    assert (flags["--noop"].action, flags["--noop"].stops_with) == ("deprecated", "")


def test_a_flag_deprecated_only_in_its_help_is_deprecated() -> None:
    flag = read("annotated").by_spelling["--fusion"]
    assert (flag.action, flag.deprecated, flag.replaced_by) == ("store_true", True, "--fusion-backend=auto")


def test_structs_are_read_with_their_namespaces_and_choices() -> None:
    flags = read("structs").by_spelling
    assert (flags["--load-format"].group, flags["--load-format"].choices) == ("model", ("auto", "dummy", "remote"))
    assert (flags["--paths"].nargs, flags["--paths"].default) == ("*", [])
    assert flags["--pipeline-parallel-size"].name == "--pp-size"


def test_functions_and_enums_that_only_state_values_are_followed() -> None:
    flags = read("structs").by_spelling
    assert (flags["--parser"].choices, flags["--parser"].default) == (("auto", "qwen3", "kimi"), "none")
    assert (flags["--hash"].choices, flags["--hash"].default) == (("none", "all"), "none")


def test_whole_trees_leave_nothing_unread() -> None:
    assert read("annotated").unread == read("structs").unread == ()


def test_a_module_that_is_missing_is_named(copied: Path) -> None:
    (copied / "sglang/srt/arg_groups/choices.py").unlink()
    catalogue = read_at(copied)
    assert catalogue.by_spelling["--load-format"].choices is None
    assert catalogue.unread == (
        "`choices` of --load-format cannot be told: sglang/srt/arg_groups/choices.py is missing or cannot be parsed.",
    )


def test_a_namespace_that_is_missing_is_named_and_the_others_are_read(copied: Path) -> None:
    (copied / "sglang/srt/arg_groups/fields/model.py").unlink()
    catalogue = read_at(copied)
    assert "--pp-size" in catalogue.by_spelling and "--load-format" not in catalogue.by_spelling
    assert any("fields/model.py is missing" in sentence for sentence in catalogue.unread)


def test_a_list_of_namespaces_that_moved_is_said_and_every_class_is_read(copied: Path) -> None:
    edit(copied, "srt/server_args.py", "_INPUT_NAMESPACES", "_ALL_NAMESPACES")
    catalogue = read_at(copied)
    assert len(catalogue.flags) == 6
    assert "every class in srt/arg_groups/fields was read instead" in catalogue.unread[0]


def test_an_argument_without_a_name_is_said_and_left_out(copied: Path) -> None:
    edit(copied, "srt/server_args.py", HASH, f'        parser.add_argument("model")\n{HASH}')
    catalogue = read_at(copied)
    assert len(catalogue.flags) == 6
    assert catalogue.unread == ("model is declared as an argument without a name, which is not listed.",)


HASH = '        parser.add_argument("--hash"'


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('for name in ("--a", "--b"):\n            parser.add_argument(name)', "1 registrations inside it"),
        ("with quiet():\n            x = 1\n            parser.add_argument('--a')", "1 registrations inside it"),
        ("parser.add_argument(*names())", "1 registrations inside it"),
        ("register_more(parser)", "what it registers"),
        ("Other.add_cli_args(parser)", "what it registers"),
    ],
)
def test_a_way_of_declaring_that_is_not_understood_is_said(copied: Path, written: str, said: str) -> None:
    edit(copied, "srt/server_args.py", HASH, f"        {written}\n{HASH}")
    catalogue = read_at(copied)
    assert "--hash" in catalogue.by_spelling
    assert len(catalogue.unread) == 1 and f"is not understood; {said} may be missing" in catalogue.unread[0]


def test_a_registration_behind_the_machine_is_read_and_said(copied: Path) -> None:
    edit(copied, "srt/server_args.py", HASH, f'        if is_hip():\n            parser.add_argument("--amd")\n{HASH}')
    catalogue = read_at(copied)
    assert "--amd" in catalogue.by_spelling
    assert catalogue.unread == (
        "Some flags are registered only if `is_hip()`, and `is_hip` is not defined in the source.",
    )


def test_titles_of_argument_groups_group_flags(copied: Path) -> None:
    group = '        more = parser.add_argument_group("More")\n        more.add_argument("--a")\n'
    edit(copied, "srt/server_args.py", HASH, f"{group}{HASH}")
    assert read_at(copied).by_spelling["--a"].group == "More"


def test_a_newer_version_is_read_with_a_warning(copied: Path) -> None:
    edit(copied, "_version.py", "0.5.22", "9.1.0")
    assert read_at(copied).unread[0].startswith("9.1.0 is newer than ")


def test_a_tree_that_does_not_say_its_version_is_read_all_the_same(copied: Path) -> None:
    (copied / "sglang/_version.py").unlink()
    catalogue = read_at(copied)
    assert (catalogue.version, len(catalogue.flags)) == ("", 6)
    assert catalogue.unread == ("The tree does not say which version it is.",)


def test_the_version_may_come_from_the_metadata_of_an_installation(copied: Path) -> None:
    (copied / "sglang/_version.py").unlink()
    (copied / "sglang-0.5.22.dist-info").mkdir()
    (copied / "sglang-0.5.22.dist-info/METADATA").write_text("Name: sglang\nVersion: 0.5.22\n", "utf-8")
    assert read_at(copied).version == "0.5.22"


@pytest.mark.parametrize("damage", ["def (", "\x00", "ServerArgs = 3", "class ServerArgs:\n    pass\n"])
def test_a_damaged_file_is_refused_in_words(copied: Path, damage: str) -> None:
    (copied / "sglang/srt/server_args.py").write_text(damage, "utf-8")
    with pytest.raises(UserError):
        read_at(copied)


@pytest.mark.parametrize("where", [".", "sglang", "sglang/srt"])
def test_the_package_is_found_from_near_it_and_nowhere_else(copied: Path, where: str) -> None:
    if where == "sglang/srt":
        with pytest.raises(UserError, match="is not SGLang"):
            find_package(copied / where)
    else:
        assert find_package(copied / where).resolve() == (copied / "sglang").resolve()


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        find_package(tmp_path / "nowhere")
