from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent.report.pictures.axis import Scale, rounded_up, ticks
from ppagent.report.pictures.svg import Picture, dot, element, inline, number, rect, standalone, text

HOSTILE = "</text><script>alert('x')</script> & \"quoted\" <!--"


def test_text_attributes_and_hints_are_escaped() -> None:
    drawn = text(1, 2, HOSTILE, HOSTILE) + rect(0, 0, 1, 1, "a", HOSTILE) + dot(0, 0, 1, "b", HOSTILE)
    root = ElementTree.fromstring(f"<svg>{drawn}</svg>")
    assert [child.tag for child in root.iter()] == ["svg", "text", "rect", "title", "circle", "title"]
    assert root[0].text == root[0].get("class") == root[1][0].text == HOSTILE


def test_a_coordinate_has_one_decimal_and_no_negative_zero() -> None:
    assert [number(value) for value in (3, 3.14159, -0.01, 1200.0)] == ["3", "3.1", "0", "1200"]


def test_attribute_names_are_spelt_as_svg_spells_them() -> None:
    assert element("text", "x", text_anchor="end", css="tick", viewBox="0 0 1 1", x=1, y="") == (
        '<text text-anchor="end" class="tick" viewBox="0 0 1 1" x="1">x</text>'
    )


def test_a_picture_in_a_page_says_in_words_what_it_shows() -> None:
    root = ElementTree.fromstring(inline(Picture(10, 20, "<g/>", HOSTILE, "wide")))
    assert (root.get("viewBox"), root.get("class")) == ("0 0 10 20", "pic wide")
    assert (root.get("role"), root.get("aria-label")) == ("img", HOSTILE)


def test_a_file_of_pictures_brings_its_style_and_stacks_them() -> None:
    one, two = Picture(100, 50, "<g/>", "first"), Picture(80, 50, "<g/>", "b")
    file = standalone([("One", one, ["a < b"]), ("Two", two, [])])
    root = ElementTree.fromstring(file)
    space = "{http://www.w3.org/2000/svg}"
    style = root.find(f"{space}style")
    assert style is not None and "prefers-color-scheme: dark" in (style.text or "")
    moved = [group.get("transform", "") for group in root.findall(f"{space}g") if group.get("transform")]
    assert moved == ["translate(24,52)", "translate(24,183)"]
    assert "a < b" in [each.text for each in root.iter(f"{space}text")]
    assert "url(" not in file and "http" not in file.replace("http://www.w3.org/2000/svg", "")


def test_ticks_are_round() -> None:
    assert ticks(0, 435) == [0, 100, 200, 300, 400]
    assert ticks(0, 28) == [0, 10, 20]
    assert ticks(0, 0.25) == [0, 0.05, 0.1, 0.15, 0.2, 0.25]
    assert ticks(5, 5) == [5]


@given(st.floats(1e-6, 1e9), st.integers(2, 12))
def test_ticks_lie_on_the_scale_and_the_end_above_the_value(value: float, most: int) -> None:
    marks = ticks(0, value, most)
    assert 1 <= len(marks) <= most
    assert all(0 <= mark <= value * (1 + 1e-6) for mark in marks)
    assert value * (1 - 1e-6) <= rounded_up(value, most) <= 2.5 * value


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_scale_never_leaves_its_pixels(low: float, high: float, value: float) -> None:
    assert 10 <= Scale(low, high, 10, 90).px(value) <= 90


def test_a_scale_may_run_upwards() -> None:
    assert Scale(0, 100, 200, 0).px(25) == pytest.approx(150)
