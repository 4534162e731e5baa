"""Judges the import-free flag catalogue against the parser that SGLang itself builds.

    judge_catalogue.py --python PYTHON TREE...

TREE is a folder that contains a whole `sglang` package; PYTHON an interpreter that has the dependencies of some SGLang
(with torch for the CPU). For each tree, PYTHON imports that tree's own server_args, lets `ServerArgs.add_cli_args` fill
a parser and prints every action of it; third-party modules that are not installed, or whose version does not fit, are
replaced by empty stand-ins. The actions are then compared with what ppagent reads from the same files without importing
them: spellings, order, field, type, default, choices, number of values, constant, action, help. Prints one line a tree
and every difference; exits 1 if there is one.
"""

import abc
import argparse
import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import json
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DUMP_SECONDS = 300
ATTEMPTS = (
    "torchvision",
    "torchvision,triton",
    "torchvision,transformers",
    "torchvision,transformers,huggingface_hub,sglang.srt.configs",
    "torchvision,triton,transformers,huggingface_hub,sglang.srt.configs",
)


class StandIn(abc.ABCMeta):
    """A class that answers every attribute, call and subscript with a class of its kind."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__func__":
            raise AttributeError(name)
        return stand_in(name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]
        return stand_in("result")

    def __getitem__(cls, key: Any) -> Any:
        return cls

    def __setitem__(cls, key: Any, value: Any) -> None:
        return None

    def __contains__(cls, key: Any) -> bool:
        return False

    def register(cls, *_: Any, **__: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __bool__(cls) -> bool:
        return False

    def __enter__(cls) -> Any:
        return cls

    def __exit__(cls, *_: Any) -> None:
        return None

    def _never(cls, other: Any) -> bool:
        return False

    __lt__ = __gt__ = __le__ = __ge__ = _never


class Base:
    """What stand-ins derive from: takes any keyword in a class statement."""

    def __init_subclass__(cls, **_: Any) -> None:
        super().__init_subclass__()


def stand_in(name: str) -> StandIn:
    return StandIn(name, (Base,), {})


class StandInModule(types.ModuleType):
    """A module of stand-ins."""

    __path__: list[str] = []
    __version__ = "0.0.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return stand_in(name)


class StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last finder: whatever nobody else has, outside SGLang, becomes a module of stand-ins."""

    def __init__(self, forced: tuple[str, ...]) -> None:
        self.forced = forced
        self.used: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] == "sglang" or not asked_by_sglang():
            return None
        self.used.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        return None


def asked_by_sglang() -> bool:
    """Whether SGLang needs the import under way: optional imports, and other packages' own, must fail as they do."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__ and not name.startswith("importlib"):
            return name.partition(".")[0] == "sglang" and not is_guarded(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return False


@functools.cache
def guarded_lines(filename: str) -> frozenset[int]:
    """Lines of a file inside a `try` that has handlers."""
    tries = [n for n in ast.walk(ast.parse(Path(filename).read_text("utf-8"))) if isinstance(n, ast.Try) and n.handlers]
    spans = [(t.body[0].lineno, t.body[-1].end_lineno or t.body[-1].lineno) for t in tries]
    return frozenset(line for first, last in spans for line in range(first, last + 1))


def is_guarded(filename: str, line: int) -> bool:
    return Path(filename).is_file() and line in guarded_lines(filename)


class ForcedFinder(StandInFinder):
    """First finder: modules that are installed but cannot be imported here."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not any(name == forced or name.startswith(forced + ".") for forced in self.forced):
            return None
        self.used.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)


def built(tree: Path, forced: tuple[str, ...]) -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser of the SGLang in `tree`, imported here, and the modules that had stand-ins."""
    sys.path.insert(0, str(tree))
    first, last = ForcedFinder(forced), StandInFinder(())
    sys.meta_path.insert(0, first)
    sys.meta_path.append(last)
    module = importlib.import_module("sglang.srt.server_args")
    if not str(module.__file__).startswith(str(tree)):
        raise SystemExit(f"imported {module.__file__} instead of {tree}")
    parser = argparse.ArgumentParser()
    module.ServerArgs.add_cli_args(parser)
    return parser, sorted({name.partition(".")[0] for name in first.used + last.used})


def dump(tree: Path, forced: tuple[str, ...]) -> dict[str, Any]:
    """Every action of the tree's parser."""
    parser, stand_ins = built(tree, forced)
    return {"stand_ins": stand_ins, "actions": [describe(a) for a in parser._actions if a.dest != "help"]}


def describe(action: argparse.Action) -> dict[str, Any]:
    """One action as JSON."""
    kind = type(action).__name__.strip("_")
    return {
        "spellings": list(action.option_strings),
        "dest": action.dest,
        "type": getattr(action.type, "__name__", None) if action.type else None,
        "module": getattr(action.type, "__module__", None) if action.type else None,
        "default": jsonable(action.default),
        "choices": None if action.choices is None else jsonable(action.choices),
        "nargs": action.nargs,
        "const": jsonable(getattr(action, "const_value", action.const)),
        "action": kind,
        "required": action.required,
        "help": action.help,
    }


def jsonable(value: Any) -> Any:
    """`value` as JSON: None for suppressed defaults, lists for sets (sorted) and tuples, values for enum members."""
    if isinstance(value, str) and value == argparse.SUPPRESS:
        return None
    if isinstance(value, set | frozenset):
        return sorted((jsonable(v) for v in value), key=str)
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


KINDS = {
    "StoreAction": "store",
    "StoreTrueAction": "store_true",
    "StoreFalseAction": "store_false",
    "StoreConstAction": "store_const",
    "AppendAction": "append",
    "BooleanOptionalAction": "boolean_optional",
    "LoRAPathAction": "store",
    "DeprecatedAction": "deprecated",
    "DeprecatedStoreTrueAction": "store_true",
    "DeprecatedStoreConstAction": "store_const",
    "DeprecatedAliasStoreAction": "store",
}
# Up to 0.5.13 `from_cli_args` moves these parsed names to fields; a catalogue names the field.
MOVED = {
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "expert_parallel_size": "ep_size",
    "attention_context_parallel_size": "attn_cp_size",
    "moe_data_parallel_size": "moe_dp_size",
}
AS_THEY_ARE = ("spellings", "dest", "default", "choices", "nargs", "const", "required")


def expected(action: dict[str, Any]) -> dict[str, Any]:
    """What a catalogue should hold for one action of the real parser."""
    kind = KINDS.get(action["action"], action["action"])
    if kind == "store_const" and action["choices"]:
        kind = "store"
    name = (
        "json"
        if (action["module"], action["type"]) == ("json.decoder", "loads") or action["type"] == "loads"
        else action["type"]
    )
    boolean = kind in ("store_true", "store_false", "boolean_optional", "deprecated")
    help_text = action["help"] or ""
    hidden = help_text == argparse.SUPPRESS
    return {
        **{key: action[key] for key in AS_THEY_ARE},
        "type": "bool" if boolean else name or "str",
        "action": kind,
        "hidden": hidden,
        "help": "" if hidden else " ".join(help_text.split()).replace("%%", "%"),
        "deprecated": action["action"].startswith("Deprecated") or None,
    }


def ours(flag: Any) -> dict[str, Any]:
    """One flag of the catalogue in the same shape."""
    return {
        **{key: getattr(flag, key) for key in (*AS_THEY_ARE, "type", "action", "hidden", "help")},
        "spellings": list(flag.spellings),
        "choices": None if flag.choices is None else list(flag.choices),
        "deprecated": flag.deprecated or None,
    }


def differences(real: list[dict[str, Any]], flags: list[Any]) -> list[str]:
    """Sentences on everything in which the two differ, the order of registration included."""
    theirs = {tuple(a["spellings"]): expected(a) for a in real}
    mine = {f.spellings: ours(f) for f in flags}
    found = [f"only the parser has {' '.join(k)}" for k in theirs if k not in mine]
    found += [f"only the catalogue has {' '.join(k)}" for k in mine if k not in theirs]
    if not found and list(theirs) != list(mine):
        found.append("the order of registration differs")
    for key in theirs.keys() & mine.keys():
        want, got = theirs[key], mine[key]
        if want["dest"] in MOVED and got["dest"] == MOVED[want["dest"]]:
            want["dest"] = got["dest"]
        if want["deprecated"] is None:
            got["deprecated"] = None  # the real parser does not know what only the help text says
        if sorted(map(str, want["choices"] or [])) == sorted(map(str, got["choices"] or [])):
            want["choices"] = got["choices"]
        found += [f"{key[0]}: {f} is {want[f]!r}, read as {got[f]!r}" for f in want if want[f] != got[f]]
    return found


def real_parser(tree: Path, python: str) -> dict[str, Any] | str:
    """What `dump` says of the tree, with as few stand-ins as will do; else why the last attempt failed."""
    failure = ""
    for forced in ATTEMPTS:
        command = [python, __file__, "--dump", "--stand-in", forced, str(tree)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=DUMP_SECONDS, check=False)
        if done.returncode == 0:
            return dict(json.loads(done.stdout.strip().splitlines()[-1]))
        failure = done.stderr.strip().splitlines()[-1]
    return failure


def judge(tree: Path, python: str) -> tuple[int, list[str], str]:
    """Number of actions, differences, and the modules that had stand-ins."""
    from ppagent.sglang.flags.reader import read_tree
    from ppagent.sglang.flags.source import SourceTree, find_package

    real = real_parser(tree, python)
    if isinstance(real, str):
        return 0, [f"the real parser cannot be built: {real}"], ""
    catalogue = read_tree(SourceTree(find_package(tree)))
    found = differences(real["actions"], list(catalogue.flags)) + [f"unread: {s}" for s in catalogue.unread]
    return len(real["actions"]), found, ", ".join(real["stand_ins"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--stand-in", default="", help=argparse.SUPPRESS)
    parser.add_argument("--dump", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.dump:
        print(json.dumps(dump(args.trees[0].resolve(), tuple(filter(None, args.stand_in.split(","))))))
        return 0
    bad = 0
    for tree in args.trees:
        count, found, stand_ins = judge(tree, args.python)
        bad += bool(found)
        print(f"{tree.name}: {count} actions, {len(found)} differences; stand-ins: {stand_ins or 'none'}", flush=True)
        for line in found:
            print(f"    {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
