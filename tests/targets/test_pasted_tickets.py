"""Tickets as people write them: quoted mail, and commands that lost their line ends."""

from ppagent.sglang.launch.command import parse_launch
from ppagent.targets.pasted import read_pasted
from ppagent.targets.target import Artifact


def test_a_command_that_lost_its_backslashes_is_read_to_its_end() -> None:
    text = (
        "from compose:\n    command: >\n      python3 -m sglang.launch_server\n      --model-path m\n"
        "      --tp-size 2 --pp-size 4\n      --port 30000\n\nslow since noon"
    )
    pasted = read_pasted(text)
    args = parse_launch(pasted.artifacts[Artifact.LAUNCH], None).args
    assert (args["tp_size"], args["pp_size"], args["port"]) == (2, 4, 30000)
    assert pasted.words.endswith("slow since noon")


def test_what_a_mail_quotes_is_read_without_its_marks() -> None:
    log = "[2026-06-03 02:11:09 PP3] Scheduler hit an exception: Traceback (most recent call last):"
    text = f'Ann wrote:\n> {log}\n>   File "a.py", line 4, in run\n>> RuntimeError: reset by peer\n> > why\n'
    pasted = read_pasted(text)
    assert pasted.artifacts[Artifact.SERVER_LOG].splitlines() == [
        log,
        '  File "a.py", line 4, in run',
        "RuntimeError: reset by peer",
    ]
    assert pasted.words == "Ann wrote:\nwhy"


def test_one_line_above_a_number_is_no_quotation() -> None:
    assert read_pasted("we want\n> 300 tok/s\nplease").words == "we want\n> 300 tok/s\nplease"


def test_the_kernels_word_of_a_killed_process_is_of_the_kernel_log() -> None:
    line = "[351223.112321] Out of memory: Killed process 40123 (sglang::schedul) total-vm:812345612kB"
    pasted = read_pasted(f"dmesg on node 2 says\n{line}\n")
    assert pasted.artifacts[Artifact.DMESG] == f"{line}\n"
    assert pasted.words == "dmesg on node 2 says"
