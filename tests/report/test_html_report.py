from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from ppagent.report.document import document_of
from ppagent.report.html import as_html
from tests.report.samples import COMMAND, diagnosed, undecided

VOID = {"meta", "br"}
HOSTILE = "</pre></title></style><script>alert(1)</script><img src=x onerror=y> \" onload='z' [E1]"


class Reader(HTMLParser):
    """Collects what a page holds, and checks that what opens closes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words: list[str] = []
        self.inside: dict[str, str] = {"script": "", "style": ""}
        self.policy = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.attributes |= set(found)
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if "href" in found else []
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.inside:
            self.inside[self.open[-1]] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="module")
def page() -> Reader:
    return Reader(as_html(document_of(diagnosed())))


def test_the_page_is_well_formed_and_points_nowhere_but_into_itself(page: Reader) -> None:
    assert page.open == []
    assert not {"img", "link", "iframe", "object", "form", "base", "video"} & set(page.tags)
    assert not {"src", "srcset", "action", "style", "ping"} & page.attributes
    assert not [name for name in page.attributes if name.startswith("on")]
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(page.ids) == len(set(page.ids))


def test_the_policy_lets_this_script_and_this_style_run_and_nothing_else(page: Reader) -> None:
    script, style = (
        "sha256-" + b64encode(sha256(page.inside[tag].encode()).digest()).decode() for tag in ("script", "style")
    )
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert page.policy.split("; ") == [
        "default-src 'none'",
        f"style-src '{style}'",
        f"script-src '{script}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_page_says_what_the_text_says(page: Reader) -> None:
    assert "DIAGNOSED Micro-batches unfilled (PP001): source.unfilled is True [E1]." in page.text
    assert "recorded from a real server; the device is emulated, so its speed is not a GPU's" in page.text
    assert "confidence0.99" in page.text
    assert "cured alone+69 to +99 tok/s" in page.text
    assert COMMAND in page.text
    assert "- --disable-cuda-graph" in page.text
    assert "--pp-async-batch-depth it adds slots and yours are empty [E1]" in page.text
    assert "KV001 KV pool exhausted source.full is False [E1]" in page.text
    assert "a profiler trace no trace was recorded" in page.text
    assert "set it back to 256" in page.text


def test_now_and_each_forecast_are_to_be_seen_at_once(page: Reader) -> None:
    assert "now, C=895.6tok/s, measured, emulated device" in page.text
    assert "P1: try now, live, reversible165–195tok/s, forecast, 1.7x to 2.0x" in page.text


def test_every_citation_leads_to_its_evidence_with_words_and_facts(page: Reader) -> None:
    assert "#E1" in page.links
    assert "E1" in page.ids
    assert "Decode batch, #running-req: 3" in page.text
    assert "engine.version0.5.11" in page.text
    assert page.text.count("engine.versionSGLang's version") == 1


def test_every_command_has_a_button_that_only_a_script_shows(page: Reader) -> None:
    assert page.tags.count("button") == 2
    assert "hidden" in page.attributes


def test_text_of_the_server_cannot_become_markup_or_run() -> None:
    facts = {"engine.version": HOSTILE, "gpu.names": {"0": HOSTILE}, "recording.gpus": HOSTILE, "args.x": HOSTILE}

    read = Reader(as_html(document_of(diagnosed(excerpt=HOSTILE, **facts))))

    assert read.open == []
    assert "img" not in read.tags
    assert read.tags.count("script") == 1
    assert not [name for name in read.attributes if name.startswith("on")]
    assert HOSTILE in "".join(read.words)


def test_a_page_of_an_undecided_server_says_what_to_ask() -> None:
    read = Reader(as_html(document_of(undecided())))

    assert "NOT ENOUGH EVIDENCE" in read.text
    assert "Cannot tell" in read.text
    assert "What to do" not in read.text
    assert all(link[1:] in read.ids for link in read.links)


def test_a_long_fact_is_cut_and_says_how_long_it_was() -> None:
    read = Reader(as_html(document_of(diagnosed(**{"args.long": "x" * 900}))))

    assert "x" * 400 + " (cut: 900 characters in all)" in read.text
    assert "x" * 401 not in read.text
