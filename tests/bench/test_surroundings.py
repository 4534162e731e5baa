import json
from types import SimpleNamespace
from typing import cast

import pytest

from ppagent.bench import surroundings
from ppagent.bench.surroundings import governor_of, look_around
from ppagent.errors import ToolError
from ppagent.targets.live_host import LiveHost
from ppagent.targets.target import Artifact
from tests.bench.fakes import FakeServer


def host(kind: str, governor: str | None) -> LiveHost:
    """A host of which only its governor is told; none at all where its survey failed."""

    def text(artifact: Artifact) -> str:
        assert artifact is Artifact.HOST
        if governor is None:
            raise ToolError("the host answers no commands")
        return json.dumps({"governor": governor} if governor else {})

    return cast("LiveHost", SimpleNamespace(link=SimpleNamespace(kind=kind), text=text))


@pytest.mark.parametrize(
    ("kind", "here", "there", "words"),
    [
        ("ssh", "performance", "schedutil", "governor performance here, schedutil on the server's host"),
        ("ssh", "", "performance", "governor performance on the server's host"),
        ("ssh", "performance", None, "governor performance"),
        ("ssh", "", "", ""),
        ("local", "performance", "performance", "governor performance"),
    ],
)
def test_the_governors_of_both_ends_are_told_where_they_can_be_read(
    kind: str, here: str, there: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "_governor", lambda: here)
    with FakeServer() as server:
        assert look_around(server.endpoint, host(kind, there)).governors == words


def test_a_server_host_that_saves_power_on_some_cpus_is_remarked_upon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "_governor", lambda: "performance")
    with FakeServer() as server:
        around = look_around(server.endpoint, host("ssh", "performance (62 CPUs), powersave (2 CPUs)"))
        quick = look_around(server.endpoint, host("ssh", "performance"))
    (remark,) = [each for each in around.remarks if "governor" in each]
    assert "of the server's host is performance (62 CPUs), powersave (2 CPUs)" in remark
    assert not [each for each in quick.remarks if "governor" in each]


def test_a_host_that_does_not_tell_has_no_governor() -> None:
    assert governor_of(host("ssh", None)) == ""
    assert governor_of(host("local", "ondemand")) == "ondemand"
