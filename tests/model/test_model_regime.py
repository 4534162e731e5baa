from ppagent.model.regime import pacing


def test_the_slowest_stage_is_named_and_stages_alike_are_all_named() -> None:
    assert pacing([1.0, 2.0, 1.0]) == ("stage 1", False)
    assert pacing([1.0, 2.0, 2.0, 1.99]) == ("stages 1-3", True)
    assert pacing([2.0, 1.0, 2.0]) == ("stages 0 and 2", True)
    assert pacing([2.0, 2.0]) == ("every stage", False)
