"""Plans and results of labelled lines, as wide as the terminal."""

from hypothesis import given
from hypothesis import strategies as st

from ppagent.report.labelled import fitted

PLAN = """A live trial on http://10.0.0.7:30000 (SGLang 0.5.11, PP8): it changes a setting of the running server
  measures   load levels C = 1, 4 for a forecast, then 256, 1, 256 again, 30 s each once requests turned over
  -   --port 30000
  the new command: python -m sglang.launch_server --model-path /models/x --pp-size 8 --pp-max-micro-batch-size 1
             stops the server (SIGTERM; requests of others are cut), starts the new command in its folder
                 ExecStart=python -m sglang.launch_server --model-path /models/x --pp-size 8 --port 30000 --host ::

  by hand:
    systemctl edit sglang.service     # put in the lines that follow here, and mind that none of them is broken
        ExecStart=python -m sglang.launch_server --model-path /models/x --pp-size 8 --pp-max-micro-batch-size 1"""


def test_a_label_holds_its_column_and_the_sentence_behind_it_is_wrapped() -> None:
    told = fitted(PLAN, 80).split("\n")
    assert told[:4] == [
        "A live trial on http://10.0.0.7:30000 (SGLang 0.5.11, PP8): it changes a setting",
        "           of the running server",
        "  measures   load levels C = 1, 4 for a forecast, then 256, 1, 256 again, 30 s",
        "             each once requests turned over",
    ]


def test_an_outcome_stands_out_in_front_of_its_sentence() -> None:
    told = fitted(f"CANNOT TELL  pp_max_micro_batch_size 16 -> 2: {'the noise hides it, ' * 4}so measure longer", 80)
    first, second = told.split("\n")
    assert first.startswith("CANNOT TELL  pp_max_micro_batch_size 16 -> 2: the noise hides it")
    assert second.startswith(" " * 11 + "hides it, ")


def test_what_is_to_be_copied_stays_in_one_line() -> None:
    told = fitted(PLAN, 60).split("\n")
    for line in PLAN.split("\n"):
        if "--pp-size" in line or "systemctl" in line:
            assert line in told


@given(st.text("ab (),.;-\n", max_size=400), st.integers(40, 100))
def test_no_word_is_lost(text: str, width: int) -> None:
    assert fitted(text, width).split() == text.split()
