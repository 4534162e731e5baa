import pytest

from ppagent.cli.left_behind import restoring


@pytest.mark.parametrize(
    ("target", "server", "command"),
    [
        ("local", "http://127.0.0.1:30000", "ppagent try local --port 30000 --restore"),
        ("ssh://me@box", "ssh://box/30001", "ppagent try ssh://me@box --port 30001 --restore"),
        ("http://127.0.0.1:30000", "http://127.0.0.1:30000", "ppagent try http://127.0.0.1:30000 --restore"),
        ("local", "http://127.0.0.1:30000/behind", "ppagent try local --restore"),
    ],
)
def test_the_command_that_restores_names_the_server(target: str, server: str, command: str) -> None:
    assert restoring(target, server) == command
