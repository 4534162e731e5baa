"""The user's own text with a change made in it."""

import json
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from launch_samples import (
    ARRAY,
    CATALOGUE,
    COMPOSE,
    DOCKER,
    DOCKER_SHELL,
    FORMS,
    KUBERNETES,
    KUBERNETES_JSON,
    KUBERNETES_SCRIPT,
    ONE_LINE,
    SCRIPT,
    SYSTEMD,
)

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.launch.change import CannotEdit
from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.launch.edit import Change, edit_launch

CHANGE = Change(
    set={"--pp-max-micro-batch-size": "1"},
    unset=("--disable-cuda-graph",),
    env={"SGLANG_PP_LAYER_PARTITION": "8,8"},
)


def edit(text: str, catalogue: Catalogue | None = CATALOGUE, **change: object) -> str:
    return edit_launch(parse_launch(text, catalogue), Change(**change), catalogue)  # type: ignore[arg-type]


def test_one_line_keeps_everything_else() -> None:
    assert edit_launch(parse_launch(ONE_LINE, CATALOGUE), CHANGE, CATALOGUE) == (
        "CUDA_VISIBLE_DEVICES=0,1 SGLANG_PP_LAYER_PARTITION=8,8 python -m sglang.launch_server "
        "--model-path m --tp 2 --pp-max-micro-batch-size 1"
    )


def test_a_script_keeps_its_comments_style_and_redirection() -> None:
    edited = edit_launch(parse_launch(SCRIPT, CATALOGUE), CHANGE, CATALOGUE)
    assert edited == SCRIPT.replace(
        "export NCCL_DEBUG=WARN\n", "export NCCL_DEBUG=WARN\nexport SGLANG_PP_LAYER_PARTITION=8,8\n"
    ).replace("    --disable-cuda-graph >", "    --pp-max-micro-batch-size 1 >")


def test_a_list_is_replaced_in_place() -> None:
    assert "--cuda-graph-bs 1 2 \\\n" in edit(SCRIPT, set={"--cuda-graph-bs": "1 2"})


def test_an_array_takes_the_new_option_at_the_end_of_the_command() -> None:
    assert edit(ARRAY, set={"--pp-size": "4"}).endswith('"${ARGS[@]}" --port $PORT --pp-size 4\n')
    assert "  --tp 4  # two cards\n" in edit(ARRAY, set={"--tp-size": "4"})
    assert edit(ARRAY, unset=("--model-path",)) == ARRAY.replace("  --model-path m\n", "")


def test_docker_takes_a_variable_as_its_own_option() -> None:
    edited = edit_launch(parse_launch(DOCKER, CATALOGUE), CHANGE, CATALOGUE)
    assert "-e NCCL_DEBUG=WARN -e SGLANG_PP_LAYER_PARTITION=8,8 -v" in edited
    assert edited.endswith("--tp 2 --pp-max-micro-batch-size 1")


def test_docker_without_variables_gets_one_behind_run() -> None:
    edited = edit(DOCKER_SHELL, env={"A": "b c"}, set={"--tp": "4"})
    assert edited == DOCKER_SHELL.replace("docker run", "docker run -e A='b c'").replace("--tp 2", "--tp 4")


def test_json_inside_a_quoted_script_is_escaped_for_its_quotes() -> None:
    edited = edit(DOCKER_SHELL, set={"--json-model-override-args": '{"a": 1}'})
    assert """--json-model-override-args '{\\"a\\": 1}'\"""" in edited


def test_a_unit_gets_an_environment_line() -> None:
    edited = edit_launch(parse_launch(SYSTEMD, CATALOGUE), CHANGE, CATALOGUE)
    assert 'home" NCCL_DEBUG=WARN\nEnvironment=SGLANG_PP_LAYER_PARTITION=8,8\nExecStart' in edited
    assert "    --tp 2 \\\n    --pp-max-micro-batch-size 1\nRestart=always" in edited


def test_a_unit_without_environment_gets_its_first_line() -> None:
    unit = "[Service]\nExecStart=/usr/bin/sglang serve --model-path m\n"
    assert edit(unit, env={"A": "b c"}) == unit.replace("ExecStart", "Environment='A=b c'\nExecStart")


def test_kubernetes_items_go_and_come_one_a_line() -> None:
    edited = edit_launch(parse_launch(KUBERNETES, CATALOGUE), CHANGE, CATALOGUE)
    assert edited == KUBERNETES.replace(
        "        - --disable-cuda-graph  # for now\n",
        '        - --pp-max-micro-batch-size\n        - "1"\n',
    ).replace(
        "          value: WARN\n",
        '          value: WARN\n        - name: SGLANG_PP_LAYER_PARTITION\n          value: "8,8"\n',
    )


def test_a_script_in_kubernetes_gets_an_env_key() -> None:
    edited = edit_launch(parse_launch(KUBERNETES_SCRIPT, CATALOGUE), CHANGE, CATALOGUE)
    assert (
        '    - env:\n      - name: SGLANG_PP_LAYER_PARTITION\n        value: "8,8"\n      command: [sh, -c]' in edited
    )
    assert edited.endswith("            --tp 2 \\\n            --pp-max-micro-batch-size 1\n")


def test_json_stays_json() -> None:
    document = json.loads(edit_launch(parse_launch(KUBERNETES_JSON, CATALOGUE), CHANGE, CATALOGUE))
    container = document["spec"]["containers"][0]
    assert container["args"] == ["--model-path", "m", "--tp=2", "--pp-max-micro-batch-size=1"]
    assert container["env"] == [{"name": "SGLANG_PP_LAYER_PARTITION", "value": "8,8"}]


def test_compose_keeps_its_folded_command() -> None:
    edited = edit_launch(parse_launch(COMPOSE, CATALOGUE), CHANGE, CATALOGUE)
    assert "      --tp 2\n      --pp-max-micro-batch-size 1\n    restart: always" in edited
    assert "      NCCL_DEBUG: WARN\n      SGLANG_PP_LAYER_PARTITION: 8,8\n" in edited


def test_any_spelling_is_found_and_kept() -> None:
    line = "python -m sglang.launch_server --tensor-par '2' --mem-frac=0.9"
    assert edit(line, set={"--tp-size": "4", "--mem-fraction-static": "0.8"}) == (
        "python -m sglang.launch_server --tensor-par '4' --mem-frac=0.8"
    )


def test_an_ambiguous_abbreviation_is_written_out() -> None:
    assert edit("sglang serve --pp 8 --tp 2", set={"--pp-size": "4"}) == "sglang serve --pp-size 4 --tp 2"
    assert edit("sglang serve --pp 8 --tp 2", unset=("--pp",)) == "sglang serve --tp 2"


def test_the_opposite_switch_is_replaced() -> None:
    assert edit("sglang serve --disable-metrics", set={"--enable-metrics": "true"}) == "sglang serve --enable-metrics"


def test_false_takes_a_switch_away_and_negates_a_boolean_pair() -> None:
    assert edit("sglang serve --tp 2 --disable-cuda-graph", set={"--disable-cuda-graph": "false"}) == (
        "sglang serve --tp 2"
    )
    assert edit("sglang serve --tp 2 --numa", set={"--numa": "false"}) == "sglang serve --tp 2 --no-numa"


def test_a_variable_is_changed_where_it_stands() -> None:
    assert edit(ONE_LINE, env={"CUDA_VISIBLE_DEVICES": "4,5"}) == ONE_LINE.replace("=0,1", "=4,5")
    assert edit(SYSTEMD, env={"HF_HOME": "/a b"}) == SYSTEMD.replace("/data/hf home", "/a b")
    assert edit(KUBERNETES, env={"NCCL_DEBUG": "INFO"}) == KUBERNETES.replace("value: WARN", "value: INFO")


def test_a_variable_goes_in_front_of_wrappers_but_behind_another_host() -> None:
    assert edit("nohup sglang serve --tp 2 &", env={"A": "1"}) == "A=1 nohup sglang serve --tp 2 &"
    assert edit("srun -n 2 sglang serve --tp 2", env={"A": "1"}) == "srun -n 2 env A=1 sglang serve --tp 2"


def test_options_inside_a_variable_are_overridden_not_rewritten() -> None:
    script = 'EXTRA="--tp 2 --disable-cuda-graph"\nsglang serve --model-path m $EXTRA\n'
    assert edit(script, set={"--tp-size": "4"}).endswith("$EXTRA --tp-size 4\n")
    with pytest.raises(CannotEdit, match="variable"):
        edit(script, unset=("--disable-cuda-graph",))


def test_without_a_catalogue_the_edit_goes_by_spelling() -> None:
    edited = edit("python -m sglang.launch_server --tp 2 --disable-cuda-graph", None, set={"--tp-size": "4"})
    assert edited == "python -m sglang.launch_server --tp 4 --disable-cuda-graph"


NUMBERS = st.integers(1, 4096).map(str)
VALUES = {
    "--tp-size": NUMBERS,
    "--pp-size": NUMBERS,
    "--pp-max-micro-batch-size": NUMBERS,
    "--chunked-prefill-size": st.one_of(st.just("-1"), NUMBERS),
    "--mem-fraction-static": st.floats(0.1, 0.99).map(lambda share: f"{share:.3f}"),
    "--cuda-graph-bs": st.lists(NUMBERS, min_size=1, max_size=4).map(" ".join),
    "--served-model-name": st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1).map(
        lambda text: f"x{text}"
    ),
    "--json-model-override-args": st.just('{"num_layers": 8, "names": ["a b"]}'),
    "--disable-cuda-graph": st.sampled_from(["true", "false"]),
    "--enable-metrics": st.just("true"),
    "--disable-metrics": st.just("true"),
    "--numa": st.sampled_from(["true", "false"]),
}
CHANGES = st.builds(
    Change,
    set=st.lists(st.sampled_from(sorted(VALUES)), max_size=4, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: VALUES[name] for name in names})
    ),
    unset=st.lists(st.sampled_from(["--tp", "--disable-cuda-graph", "--pp-size", "--cuda-graph-bs"]), max_size=2).map(
        tuple
    ),
    env=st.dictionaries(
        st.sampled_from(["NCCL_DEBUG", "SGLANG_PP_LAYER_PARTITION", "A"]),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12),
        max_size=2,
    ),
)
QUOTABLE = st.sampled_from(sorted(FORMS))


@example("docker shell", Change(env={"NCCL_DEBUG": "'"}))
@given(QUOTABLE, CHANGES)
def test_an_edit_reads_back_as_intended_and_touches_nothing_else(form: str, change: Change) -> None:
    before = parse_launch(FORMS[form], CATALOGUE)
    try:
        text = edit_launch(before, change, CATALOGUE)
    except CannotEdit:
        texts = " ".join([*change.set.values(), *change.env.values()])
        assert any(char in texts for char in "'\"\\$`:#{}") or texts != texts.strip()
        return
    after = parse_launch(text, CATALOGUE)
    for name, value in change.env.items():
        assert after.env[name] == value
    if change.set.get("--tp-size"):
        assert after.args["tp_size"] == int(change.set["--tp-size"])
    elif "--tp" in change.unset:
        assert "tp_size" not in after.args
    for line in (line for line in FORMS[form].splitlines() if line.strip().startswith("#")):
        assert line in text


@given(st.lists(st.sampled_from(sorted(VALUES)), max_size=6), st.data())
def test_a_random_command_line_takes_a_random_change(names: list[str], data: st.DataObject) -> None:
    parts = ["python", "-m", "sglang.launch_server"]
    for name in names:
        value = data.draw(VALUES[name])
        switch = value in ("true", "false")
        parts += [name] if switch else [name, *(value.split() if name == "--cuda-graph-bs" else [value])]
    before = parse_launch(shlex.join(parts) + "  > log 2>&1 &  # end", CATALOGUE)
    change = data.draw(CHANGES)
    text = edit_launch(before, change, CATALOGUE)
    assert text.endswith("  > log 2>&1 &  # end")
    touched = {CATALOGUE.by_spelling[name].dest for name in change.set} | {"tp_size", "pp_size", "cuda_graph_bs"}
    touched |= {"disable_cuda_graph"}
    after = parse_launch(text, CATALOGUE)
    assert {k: v for k, v in after.args.items() if k not in touched} == {
        k: v for k, v in before.args.items() if k not in touched
    }
