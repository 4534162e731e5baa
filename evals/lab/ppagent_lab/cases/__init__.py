"""Every case that the lab can make, by name."""

from ppagent_lab.cases import admission, fill, launch, loads, stages
from ppagent_lab.shapes import Case


def all_cases() -> dict[str, Case]:
    """Name to case, in the order of the files."""
    cases = (*fill.CASES, *stages.CASES, *admission.CASES, *loads.CASES, *launch.CASES)
    return {case.name: case for case in cases}
