"""`python -m ppagent_evals.cases OUT_DIR` writes every incident below OUT_DIR."""

import sys
from pathlib import Path

from ppagent_evals.cases import all_incidents
from ppagent_evals.writing.incident import as_bytes


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m ppagent_evals.cases OUT_DIR", file=sys.stderr)
        return 2
    for incident in all_incidents():
        for name, text in incident.paths().items():
            path = Path(arguments[0]) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(name, text))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
