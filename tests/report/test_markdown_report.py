import re

from hypothesis import given
from hypothesis import strategies as st

from ppagent.report.document import document_of
from ppagent.report.markdown import as_markdown, escaped, fenced
from tests.report.samples import COMMAND, diagnosed


def test_the_report_has_the_verdict_the_causes_and_the_command_in_a_fence() -> None:
    shown = as_markdown(document_of(diagnosed()))

    assert "**DIAGNOSED** Micro-batches unfilled (PP001)" in shown
    assert "| PP001 | micro-batches unfilled | 0.99 | +69 to +99 tok/s | E1 |" in shown
    assert f"```sh\n{COMMAND}\n```" in shown
    assert "## Ruled out" in shown


def test_text_of_the_server_stays_text() -> None:
    shown = as_markdown(document_of(diagnosed(**{"engine.version": "<script>x</script> [a](http://b) `c`"})))

    assert "<script>" not in shown
    assert "[a](http" not in shown


@given(st.text())
def test_what_is_escaped_opens_no_tag_and_no_code(text: str) -> None:
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`\[|]", escaped(text))


@given(st.text("`\n ab"))
def test_a_fence_is_longer_than_any_in_its_text(text: str) -> None:
    first, *_, last = fenced(text).split("\n")

    assert first == last
    assert first not in text
