from ppagent.model.ring import equal_ring
from ppagent.model.timeline import draw_timeline


def test_one_filled_slot_walks_down_the_stages_one_at_a_time() -> None:
    rows = draw_timeline(equal_ring(4, 10), 1, 4, span_ms=40, width=40)
    cells = [row.split("|")[1] for row in rows]
    assert cells == [
        "0" * 10 + "." * 30,
        "." * 10 + "0" * 10 + "." * 20,
        "." * 20 + "0" * 10 + "." * 10,
        "." * 30 + "0" * 10,
    ]


def test_filled_slots_keep_every_stage_at_work() -> None:
    rows = draw_timeline(equal_ring(4, 10), 4, 4, span_ms=80, width=80)
    cells = [row.split("|")[1] for row in rows]
    assert cells[0] == ("0" * 10 + "1" * 10 + "2" * 10 + "3" * 10) * 2
    assert "." not in cells[3][30:]


def test_no_column_shows_one_slot_in_two_stages() -> None:
    cells = [row.split("|")[1] for row in draw_timeline(equal_ring(4, 10), 3, 3, span_ms=100, width=70)]
    for column in zip(*cells, strict=True):
        working = [cell for cell in column if cell != "."]
        assert len(working) == len(set(working))
