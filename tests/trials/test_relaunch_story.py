"""What a relaunch tells before anybody agrees to it."""

from ppagent.causes.cause import Change
from ppagent.report.labelled import fitted
from ppagent.trials.launches import NewLaunch
from ppagent.trials.proposals import Proposed
from ppagent.trials.relaunch_story import relaunch_plan
from ppagent.trials.way import Way

OLD = "python -m sglang.launch_server --model-path /models/x --pp-size 8 --host 0.0.0.0 --port 30000"
NEW = f"{OLD} --pp-max-micro-batch-size 1"
LAUNCH = NewLaunch(OLD, NEW, "    --port 30000\n+ --pp-max-micro-batch-size 1", tuple(NEW.split()), {})
PROPOSED = Proposed("P1", "relaunch", ("PP001",), Change({"--pp-max-micro-batch-size": "1"}), (), None)


def test_the_plan_says_what_the_grade_means() -> None:
    plan = relaunch_plan(LAUNCH, "box/30000", PROPOSED, "better", 30, Way(("stops the server",)))
    assert plan.splitlines()[0] == (
        "A relaunch of box/30000 (P1: PP001): it restarts the server with another launch command (grade 5)"
    )


def test_in_80_columns_the_commands_to_copy_are_whole_and_the_rest_is_wrapped() -> None:
    way = Way((f"systemctl edit sglang   # put in: {NEW}",), "its unit belongs to the system")
    told = fitted(relaunch_plan(LAUNCH, "box/30000", PROPOSED, "better", 30, way), 80).splitlines()
    assert f"  the new command: {NEW}" in told
    assert f"    {way.lines[0]}" in told
    assert all(len(line) <= 80 for line in told if NEW not in line)
