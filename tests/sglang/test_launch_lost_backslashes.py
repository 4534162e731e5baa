"""Commands whose line ends lost their backslashes on the way into a ticket."""

import pytest

from ppagent.sglang.launch.command import parse_launch
from ppagent.sglang.launch.lost_backslashes import with_backslashes

SERVER = "python3 -m sglang.launch_server"


@pytest.mark.parametrize("first", [SERVER, f"{SERVER} --model-path m", "sglang serve m", f"A=1 {SERVER}  "])
def test_options_on_lines_below_the_program_are_of_the_command(first: str) -> None:
    text = with_backslashes(f"set -e\n{first}\n  --tp-size 2 --pp-size 4\n  --port 30000\necho up")
    args = parse_launch(text, None).args
    assert (args["tp_size"], args["pp_size"], args["port"]) == (2, 4, 30000)
    assert text.endswith("--tp-size 2 --pp-size 4 \\\n  --port 30000\necho up")


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVER} \\\n --model-path m\n --tp-size 2",
        f"{SERVER} --model-path m # one card\n --tp-size 2",
        f"{SERVER} --model-path m &\n--tp-size 2",
        f"{SERVER} --model-path m\nbench --tp-size 2",
        f"services:\n  s:\n    command: >\n      {SERVER}\n      --model-path m\n      --tp-size 2\n",
        f"[Service]\nExecStart={SERVER} --model-path m\n",
    ],
)
def test_what_a_shell_or_yaml_reads_in_full_stays_as_it_is(text: str) -> None:
    assert with_backslashes(text) == text
