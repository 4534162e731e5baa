from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.errors import NotRecorded, ToolError
from ppagent.targets.live_host import LiveHost
from ppagent.targets.remote.link import Link
from ppagent.targets.remote.local_link import LocalLink
from ppagent.targets.remote.sections import Section, Sections, parse_sections, run_sections
from ppagent.targets.target import Artifact

MARK = "@@0123"


NAMES = st.from_regex(r"[a-z]{1,8}", fullmatch=True)


@given(st.dictionaries(NAMES, st.tuples(st.binary(), st.integers(0, 255)), max_size=5))
def test_whatever_a_command_writes_its_section_comes_back(sections: dict[str, tuple[bytes, int]]) -> None:
    output = b"".join(
        f"\n{MARK} {{{name}\n".encode() + body + f"\n{MARK} }}{status} why\n".encode()
        for name, (body, status) in sections.items()
    )
    found = parse_sections(output, MARK)
    assert found == {name: Section(body, status, "why") for name, (body, status) in sections.items()}


def test_a_script_goes_over_in_one_go_and_comes_back_in_sections(link: Link) -> None:
    body = 'two() { echo "$1"; echo oops >&2; return 3; }\ns one echo hi\ns two two it\ns none no-such-program\n'
    found = run_sections(link, body, timeout_s=20)
    assert list(found) == ["one", "two", "none"]
    assert found["one"] == Section(b"hi\n", 0, "")
    assert (found["two"].exit, found["two"].complaints) == (3, "oops")
    assert found["none"].exit == 127
    with pytest.raises(NotRecorded, match="the cards are not known: .*not found"):
        found.output("none", "the cards are not known")


def test_what_came_before_the_time_was_up_is_kept_and_the_rest_is_said() -> None:
    found = run_sections(LocalLink(), "s one echo hi\ns two sleep 60\ns three echo ho\n", timeout_s=0.5)
    assert list(found) == ["one"]
    with pytest.raises(ToolError, match="three of local was not read: its time was up"):
        found["three"]


def test_missing_rights_are_recognised() -> None:
    assert Section(b"", 1, "grep: /proc/1/environ: Permission denied").denied
    assert Section(b"", 1, "dmesg: read kernel buffer failed: Operation not permitted").denied
    assert not Section(b"", 127, "no-such: not found").denied


def test_a_host_that_answers_nothing_is_said() -> None:
    with pytest.raises(ToolError, match="answers no commands"):
        run_sections(LocalLink(), "exit 3\n", timeout_s=5)
    assert len(Sections({}, "gone")) == 0


def test_what_the_time_did_not_allow_is_not_taken_for_missing_rights() -> None:
    words = b"".join(b"/proc/7/cmdline:" + word + b"\0" for word in (b"python", b"-m", b"sglang.launch_server"))
    cut = Sections({"words": Section(words, 0, "")}, "its time was up after 60.0 s")
    host = LiveHost(LocalLink())
    host._looked_at = SimpleNamespace(first=cut, whole=cut)  # type: ignore[assignment]
    assert host.server.launcher.pid == 7
    for ask in (lambda: host.text(Artifact.ENVIRONMENT), lambda: list(host.log())):
        with pytest.raises(ToolError, match="of the host was not read: its time was up after 60.0 s"):
            ask()
