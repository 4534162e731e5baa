"""Rebuilds ppagent/sglang/flags/history.json from the sources of published versions.

    build_flag_history.py FOLDER

FOLDER holds one folder a version, each with that version's `sglang` package (or the parts of it that declare flags).
Fails where a tree could not be read completely: a table must not hold guesses.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from ppagent.sglang.flags import table
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.reader import read_tree
from ppagent.sglang.flags.source import SourceTree, find_package

TARGET = Path(table.__file__).with_name(table.FILE_NAME)


def catalogues(folder: Path) -> list[Catalogue]:
    """The catalogue of every tree in `folder`, oldest version first."""
    found = [read_tree(SourceTree(find_package(tree))) for tree in folder.iterdir() if tree.is_dir()]
    return sorted(found, key=lambda catalogue: Version(catalogue.version))


def written(document: dict[str, Any]) -> str:
    """The table as JSON, one flag a line."""
    lines = ",\n".join(f"{compact(name)}:{compact(entry)}" for name, entry in document["flags"].items())
    return f'{{"versions":{compact(document["versions"])},\n"flags":{{\n{lines}\n}}}}\n'


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def is_kept(catalogue: Catalogue, flags: Iterable[Flag]) -> bool:
    """Whether `flags` are those of the catalogue, help and group aside."""
    return {replace(f, help="", group="") for f in map(hashable, flags)} == {
        replace(f, help="", group="") for f in map(hashable, catalogue)
    }


def hashable(flag: Flag) -> Flag:
    return replace(flag, default=repr(flag.default), const=repr(flag.const), choices=(repr(flag.choices),))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    args = parser.parse_args()
    found = catalogues(args.folder)
    unread = [f"{c.version}: {sentence}" for c in found for sentence in c.unread]
    if unread:
        print("\n".join(unread), file=sys.stderr)
        return 1
    text = written(table.encode(found))
    lost = [
        c.version for place, c in enumerate(found) if not is_kept(c, table.decode(json.loads(text)).flags_at(place))
    ]
    if lost:
        print(f"the table does not give back {', '.join(lost)}", file=sys.stderr)
        return 1
    args.output.write_text(text, "utf-8")
    print(
        f"{args.output}: {len(found)} versions, {found[0].version} to {found[-1].version}, {len(text) / 1024:.0f} KiB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
