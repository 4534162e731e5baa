"""Lines of benchmark results as runs: what cannot be read is counted, not fatal."""

import json

from ppagent.errors import ToolError
from ppagent_tools.bench_levels import Run
from ppagent_tools.reading import Document


def read_rows(found: Document) -> tuple[list[Run], int]:
    """Every line that holds a result, and how many hold none. Raises ToolError where none does."""
    runs: list[Run] = []
    failed: list[ToolError] = []
    for number, line in enumerate(found.text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply, or too long a number"
            failed.append(found.error(f"no JSON: {why}", number))
            continue
        if isinstance(value, dict):
            runs.append(Run(value, line))
        else:
            failed.append(found.error("a JSON object was expected", number))
    if not runs:
        raise failed[0] if failed else found.error("the file is empty")
    return runs, len(failed)
