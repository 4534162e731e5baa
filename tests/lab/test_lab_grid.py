"""What the validation grid asks for."""

from ppagent.model.validation import read_row
from ppagent_lab.grid import GRIDS, Grid, Point
from ppagent_lab.shapes import Device


def test_every_server_is_measured_without_a_limit_first_and_with_one_client_before_all() -> None:
    for grid in GRIDS:
        limits = [point.limit for point in grid.points]
        assert grid.points[0] == Point(None, 1)
        assert None not in limits[limits.index(next(limit for limit in limits if limit is not None)) :]


def test_the_grid_covers_depths_loads_limits_arrivals_and_uneven_stages() -> None:
    points = [point for grid in GRIDS for point in grid.points]
    assert {grid.pp for grid in GRIDS} == {4, 8}
    assert {grid.depth for grid in GRIDS} == {0, 1, 2}
    assert {1, 4, 8, 16, 32} <= {point.concurrency for point in points}
    assert {None, 1, 2, 4, 8} == {point.limit for point in points}
    assert {point.arrival for point in points} == {"trickle", "burst"}
    assert any(len(set(grid.device.stage_ms)) > 1 for grid in GRIDS)


def test_a_turn_with_all_requests_in_one_slot_takes_every_stage_in_turn() -> None:
    grid = Grid("g", 4, Device(stage_ms=(40, 100), per_request_ms=(5,)), ())
    assert grid.ring_s(8) == (40 + 100 + 100 + 100 + 4 * 8 * 5) / 1000


def test_a_row_is_one_that_the_model_is_validated_with() -> None:
    row = read_row(
        {
            "server": "pp4",
            "pp": 4,
            "stage_ms": [60.0] * 4,
            "stage_ms_per_req": [6.0] * 4,
            "stage_ms_per_tok": 0.05,
            "hop_ms": 0.05,
            "host_ms": 12.0,
            "limit": None,
            "depth": 0,
            "concurrency": 8,
            "arrival": "trickle",
            "think_s": 0.2,
            "input_len": 64,
            "output_lens": (24, 56),
            "start_spread_s": 4.9,
            "warm_up_s": 15.0,
            "seconds": 24.0,
            "measured_tok_s": 15.0,
            "measured_tok_s_low": 14.0,
            "measured_tok_s_high": 16.0,
        }
    )
    assert (row.pp, row.concurrency, row.limit) == (4, 8, None)
