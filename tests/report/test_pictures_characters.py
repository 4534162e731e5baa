from hypothesis import given
from hypothesis import strategies as st

from ppagent.report.pictures.characters import chart
from ppagent.report.pictures.curves import Curves

CURVES = Curves(
    points=((1, 25), (8, 100)),
    points_name="as recorded",
    now=((1, 25), (8, 100), (16, 120)),
    band=((1, 25, 25), (8, 160, 200), (16, 160, 200)),
    band_name="limit 1",
    others=(("limit 2", ((1, 25), (16, 300))),),
)


def column_of(load: float) -> int:
    return 7 + round(load / 16 * 71)


def test_points_lines_and_the_range_of_the_forecast_lie_where_the_axes_say() -> None:
    lines = chart(CURVES)
    rows = lines[:16]
    heights = {row.split("|")[0].strip(): index for index, row in enumerate(rows) if row.split("|")[0].strip()}
    assert set(heights) == {"0", "100", "200", "300", "400"}
    assert rows[heights["100"]][column_of(8)] == "*"
    assert rows[0].strip().startswith("400 |")
    forecast = [index for index, row in enumerate(rows) if row[column_of(8) : column_of(8) + 1] == ":"]
    assert forecast == list(range(heights["200"], heights["200"] + len(forecast)))
    assert rows[heights["300"]].endswith("a")


def test_the_chart_says_what_its_characters_mean_and_fits_a_terminal() -> None:
    lines = chart(CURVES)
    assert "* as recorded   - as it is   : forecast, limit 1   a limit 2" in lines[-1]
    assert "requests in flight" in lines[-2]
    assert max(len(line) for line in lines) <= 80


def test_a_long_legend_goes_on_over_lines() -> None:
    others = tuple((f"limit {2**n}", ((1, 1), (2, 2))) for n in range(8))
    lines = chart(Curves((), "", now=((1, 1.0), (2, 2.0)), others=others))
    assert max(len(line) for line in lines) <= 80
    assert all(f"limit {2**n}" in "\n".join(lines) for n in range(8))


loads = st.lists(st.integers(1, 5000), min_size=1, max_size=8, unique=True).map(sorted)


@given(loads, st.floats(0, 1e6), st.integers(40, 120), st.integers(4, 40))
def test_any_curve_stays_inside_the_chart(at: list[int], height: float, columns: int, rows: int) -> None:
    points = tuple((float(load), height * load / 5000) for load in at)
    band = tuple((load, value, 2 * value) for load, value in points)
    lines = chart(Curves(points, "p", points, band, "b"), columns, rows)
    assert all(len(line) <= columns for line in lines[:rows])
    assert sum("|" in line for line in lines[:rows]) == rows
