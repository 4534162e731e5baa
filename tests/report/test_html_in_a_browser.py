"""The page of the seed's case as a browser shows it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppagent.agent.investigation import investigate
from ppagent.brains.brain import brain_of
from ppagent.changes.plan import make_plan
from ppagent.cli.main import main
from ppagent.plugins import discover
from ppagent.report.document import document_of
from ppagent.report.html import as_html
from ppagent.targets.open import open_target
from tests.report.chromium import Browser, find_chromium, running

SEED = Path(__file__).parents[2] / "evals" / "incidents" / "kimi-k26-pp8"
CHROMIUM = find_chromium()
VISIBLE_PICTURES = """[...document.querySelectorAll('figure svg')]
  .filter(svg => svg.getBoundingClientRect().width > 0).length"""
OVERLAPPING_TEXTS = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg')) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([words, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(words + ' leaves the picture');
      for (const [other, next] of texts.slice(index + 1)) {
        const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
        if (across > 1 && down > 4) found.push(words + ' over ' + other);
      }
    });
  }
  return found;
})()"""
PAPER = "getComputedStyle(document.body).backgroundColor"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = investigate(open_target(str(SEED), sys.stdin), discover(), brain=brain_of("rules"), planner=make_plan)
    written = tmp_path_factory.mktemp("page") / "report.html"
    written.write_text(as_html(document_of(found)), encoding="utf-8")
    return written


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running(CHROMIUM or "", tmp_path_factory.mktemp("profile")) as started:
        yield started


def test_the_page_of_the_seed_goes_by_mail(page: Path) -> None:
    assert page.stat().st_size < 200_000


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 400])
def test_it_loads_nothing_complains_of_nothing_and_fits_the_screen(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    seen = browser.open(page, width=width, dark=dark)

    assert seen.requests == [page.as_uri()]
    assert seen.complaints == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value(VISIBLE_PICTURES) == 4
    assert browser.value(OVERLAPPING_TEXTS) == []
    red = int(browser.value(PAPER).removeprefix("rgb(").split(",")[0])
    assert red < 60 if dark else red > 240
    assert browser.screenshot().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["p.html", "p.svg"])
def test_what_predict_draws_loads_nothing_and_nothing_lies_over_anything(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    drawn = tmp_path / name
    option = "--svg" if name.endswith("svg") else "-o"
    assert main(["predict", str(SEED), "--set", "pp_max_micro_batch_size=2", option, str(drawn)]) == 0
    for width in (1200, 400):
        seen = browser.open(drawn, width=width)
        assert seen.requests == [drawn.as_uri()]
        assert seen.complaints == []
        assert browser.value(OVERLAPPING_TEXTS.replace("figure svg", "figure svg, svg.pic")) == []


def test_a_citation_unfolds_its_evidence_with_and_without_the_script(browser: Browser, page: Path) -> None:
    for script in (True, False):
        browser.open(page, script=script)
        folded = browser.value("document.getElementById('E17').checkVisibility()")
        browser.open_anchor(page, "E17")
        assert (folded, browser.value("document.getElementById('E17').checkVisibility()")) == (False, True)


def test_the_button_copies_the_whole_command_and_is_not_there_without_the_script(browser: Browser, page: Path) -> None:
    buttons = "[...document.querySelectorAll('button.copy')].filter(b => b.checkVisibility()).length"
    browser.open(page)
    browser.allow_clipboard()
    copied = browser.value(
        """(async () => {
          const second = document.querySelectorAll('button.copy')[1];
          second.click();
          for (let n = 0; n < 200 && second.textContent === 'copy'; n++) await new Promise(r => setTimeout(r, 10));
          return [second.textContent, await navigator.clipboard.readText()];
        })()"""
    )
    assert copied[0] == "copied"
    assert copied[1].startswith(
        "/root/venv_sglang211/bin/python -m sglang.launch_server --model-path /models/Kimi-K2.6"
    )
    assert copied[1].endswith("--pp-max-micro-batch-size 1")
    assert "\n" not in copied[1]
    assert browser.value(buttons) == 3
    browser.open(page, script=False)
    assert browser.value(buttons) == 0


def test_it_prints_with_the_cited_evidence_unfolded(browser: Browser, page: Path) -> None:
    browser.open(page, dark=True)
    browser.value("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.value("document.getElementById('E17').checkVisibility()")
    assert browser.value("document.querySelectorAll('details.unused[open]').length") == 0
    browser.value("window.dispatchEvent(new Event('afterprint'))")
    assert browser.value("document.querySelectorAll('details[open]').length") == 0
    assert browser.print_pdf().startswith(b"%PDF")


def test_markup_that_slipped_in_could_not_run(browser: Browser, page: Path, tmp_path: Path) -> None:
    spoiled = tmp_path / "spoiled.html"
    injected = (
        "<script>document.title = 'ran'</script><img src='http://127.0.0.1:9/x' onerror=\"document.title='ran'\">"
    )
    spoiled.write_text(page.read_text("utf-8").replace("<main>", f"<main>{injected}"), "utf-8")

    seen = browser.open(spoiled)

    assert browser.value("document.title") != "ran"
    assert [text for text in seen.complaints if "Content Security Policy" in text]
    assert seen.blocked == ["csp"]
