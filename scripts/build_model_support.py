"""Rebuilds ppagent/sglang/legality/model_support.json from the sources of published versions.

    python scripts/build_model_support.py TREES

TREES is a folder with one folder a version, named like it, that holds the sglang package of that version.
"""

import json
import sys
from pathlib import Path

from packaging.version import Version

from ppagent.sglang.flags.source import SourceTree, find_package
from ppagent.sglang.legality.model_source import architectures, takes_stages

TABLE = Path(__file__).parent.parent / "ppagent" / "sglang" / "legality" / "model_support.json"
History = dict[str, list[tuple[str, bool | None]]]


def main(trees: Path) -> None:
    """Reads every version and writes the table: for each class the versions at which its answer changed."""
    history: History = {}
    for version in sorted((path.name for path in trees.iterdir() if path.is_dir()), key=Version):
        tree = SourceTree(find_package(trees / version))
        known = {name: takes_stages(tree, name) for name in set(architectures(tree))}
        _note(history, version, {name: answer[0] for name, answer in known.items() if answer is not None})
        print(version, len(known), file=sys.stderr)
    lines = [f"{json.dumps(name)}: {json.dumps(changes)}" for name, changes in sorted(history.items())]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _note(history: History, version: str, answers: dict[str, bool]) -> None:
    for name in history.keys() | answers.keys():
        changes = history.setdefault(name, [])
        answer = answers.get(name)
        if not changes or changes[-1][1] is not answer:
            changes.append((version, answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
