from html.parser import HTMLParser

from ppagent.report.document import document_of
from ppagent.report.html import as_html
from tests.report.samples import COMMAND, diagnosed


class Reader(HTMLParser):
    """Collects tags and text, and checks that what opens closes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not {"src", "href", "onload"} & {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_is_well_formed_and_loads_nothing() -> None:
    read = Reader(as_html(document_of(diagnosed())))

    assert read.open == []
    assert not read.tags & {"script", "img", "link", "iframe"}


def test_the_page_says_what_the_text_says() -> None:
    words = "".join(Reader(as_html(document_of(diagnosed()))).words)

    assert "DIAGNOSED Micro-batches unfilled (PP001): source.unfilled is True [E1]." in words
    assert COMMAND in words
    assert "KV001 KV pool exhausted: source.full is False [E1]" in words


def test_text_of_the_server_cannot_become_a_tag() -> None:
    hostile = "</pre><script>alert(1)</script><img src=x onerror=y>"

    read = Reader(as_html(document_of(diagnosed(excerpt=hostile, **{"engine.version": hostile}))))

    assert not read.tags & {"script", "img"}
    assert hostile in "".join(read.words)
