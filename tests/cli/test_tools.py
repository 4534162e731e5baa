import json

import pytest

from ppagent import plugins
from ppagent.cli.main import main
from ppagent.plugins import Grade, ToolSource
from tests.agent.fakes import FakeTool, built_in, plugin

SOURCES = (
    built_in(FakeTool("logs.decode", summary="Reads decode lines. And more.")),
    plugin(FakeTool("other.load", grade=Grade.LOAD), FakeTool("logs.decode")),
    ToolSource("broken", "broken-package", error="ImportError: no cupy"),
)


@pytest.fixture(autouse=True)
def sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "discover", lambda: SOURCES)


def test_every_tool_is_listed_with_origin_grade_and_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools"]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == ["logs.decode", "built", "in", "0", "ready", "Reads", "decode", "lines"]
    assert lines[2][:4] == ["other.load", "somebody-elses-package", "4", "ready"]


def test_what_a_tool_tells_goes_on_in_its_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "Reads decode lines of the first stage: requests in a micro-batch, queue, stalls"
    monkeypatch.setattr(plugins, "discover", lambda: (built_in(FakeTool("logs.decode", summary=words)),))
    monkeypatch.setenv("COLUMNS", "80")
    main(["tools"])
    head, first, *others = capsys.readouterr().out.splitlines()
    column = head.index("what it tells")
    assert others and all(line[:column].strip() == "" for line in others)
    assert " ".join([first[column:], *(line.strip() for line in others)]) == words


def test_a_plugin_that_did_not_load_is_visible(capsys: pytest.CaptureFixture[str]) -> None:
    main(["tools"])

    shown = capsys.readouterr()
    assert "not loaded: ImportError: no cupy" in shown.out
    assert "tools of broken (broken-package) did not load" in shown.err
    assert "logs.decode of somebody-elses-package is left out" in shown.err


def test_the_list_is_there_for_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    main(["tools", "--format", "json"])

    rows = json.loads(capsys.readouterr().out)
    assert rows[1] == {
        "name": "other.load",
        "origin": "somebody-elses-package",
        "grade": 4,
        "state": "ready",
        "summary": "A fake",
    }
