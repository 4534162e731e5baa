"""Several hosts are named with commas; where one of them is none, that one is said."""

from pathlib import Path

import pytest

from ppagent.bench.reach import reach
from ppagent.errors import UserError
from ppagent.targets.open import open_target
from ppagent.targets.open_live import is_live, not_all_hosts


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text("Host node0 node1\n  HostName 127.0.0.1\n")
    monkeypatch.setenv("PPAGENT_SSH_CONFIG", str(config))


@pytest.mark.parametrize(
    ("text", "wrong", "advice"),
    [
        ("node0,10.0.0.9", "10.0.0.9 is no Host of the ssh configuration, as the others are.", "Write ssh://10.0.0.9,"),
        ("nod1,node0", "nod1 is no Host", "Write ssh://nod1,"),
        ("local,me@box", "me@box is no Host", "Write ssh://me@box,"),
        ("node0,some/folder", "some/folder is no Host", "Name every host."),
        ("node0, node1", "Between the hosts of 'node0, node1' stands more than commas.", "HOST,HOST without spaces"),
        ("node0,", "Between the hosts of 'node0,' stands more than commas.", "HOST,HOST"),
    ],
)
def test_the_part_that_names_no_host_is_said_and_how_to_name_one(text: str, wrong: str, advice: str) -> None:
    assert not is_live(text)
    for opened in (open_target, lambda name: reach(name, None, {})):
        with pytest.raises(UserError) as error:
            opened(text)
        assert error.value.wrong.startswith(wrong)
        assert advice in error.value.advice


@pytest.mark.parametrize("text", ["node0,node1", "local", "nothing,at-all", "a,b.log"])
def test_lists_that_are_all_hosts_or_none_are_left_to_others(text: str) -> None:
    assert not_all_hosts(text) is None
