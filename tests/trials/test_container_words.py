import pytest

from ppagent.trials.container_words import exchanged

RUNNING = ("python3", "-m", "sglang.launch_server", "--model-path", "x y")
NEW = (*RUNNING, "--pp-size", "4")
ENTRY = "/opt/nvidia/nvidia_entrypoint.sh"


@pytest.mark.parametrize(
    ("command", "becomes"),
    [
        (RUNNING, NEW),
        ((ENTRY, *RUNNING), (ENTRY, *NEW)),
        (
            ("bash", "-c", "exec python3 -m sglang.launch_server --model-path 'x y'"),
            ("bash", "-c", "exec python3 -m sglang.launch_server --model-path 'x y' --pp-size 4"),
        ),
        (
            (ENTRY, "/bin/sh", "-c", 'python3 -m sglang.launch_server --model-path "x y"'),
            (ENTRY, "/bin/sh", "-c", "python3 -m sglang.launch_server --model-path 'x y' --pp-size 4"),
        ),
    ],
)
def test_the_servers_words_are_exchanged_and_what_starts_them_stays(
    command: tuple[str, ...], becomes: tuple[str, ...]
) -> None:
    assert exchanged(command, RUNNING, NEW) == becomes


def test_a_script_is_found_behind_the_interpreter_that_the_kernel_put_in_front() -> None:
    running = ("/usr/bin/python3", "/usr/local/bin/sglang", "serve", "--model-path", "x")
    new = (*running, "--tp", "2")
    assert exchanged(("sglang", "serve", "--model-path", "x"), running, new) == (
        "sglang", "serve", "--model-path", "x", "--tp", "2",
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        ("bash",),
        ("bash", "-c", "pip install x && python3 -m sglang.launch_server --model-path 'x y'"),
        ("bash", "-c", "python3 -m sglang.launch_server --model-path $MODEL"),
        ("bash", "-c", "python3 -m sglang.launch_server --model-path 'x y"),
        ("bash", "/start.sh"),
        ("python3", "-m", "sglang.launch_server", "--model-path", "z"),
        RUNNING[1:],
        (),
    ],
)
def test_a_command_that_does_more_or_says_it_another_way_is_not_touched(command: tuple[str, ...]) -> None:
    assert exchanged(command, RUNNING, NEW) is None
