"""Reads the launch flags of an SGLang tree without importing it."""

import ast
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ppagent.errors import UserError
from ppagent.sglang.flags.bindings import Index
from ppagent.sglang.flags.calls import Registrations, moved_fields
from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.fields import Field, default_of, fields_of, spec_of
from ppagent.sglang.flags.flag import Catalogue, Flag
from ppagent.sglang.flags.gaps import Gaps
from ppagent.sglang.flags.objects import Class, NotStatic, module_scope
from ppagent.sglang.flags.source import SERVER_ARGS, Module, SourceTree, read_version
from ppagent.sglang.flags.spec import FlagSpec, finish
from ppagent.sglang.versions import NEWEST_KNOWN, OLDEST_KNOWN, parse_version, release

_NAMESPACES = "_INPUT_NAMESPACES"
_FIELDS_FOLDER = "srt/arg_groups/fields"
_ORDER_MODULE, _ORDER = "sglang.srt.arg_groups.field_order", "POSITIONAL_FIELD_ORDER"


def read_tree(tree: SourceTree) -> Catalogue:
    """The catalogue of the `sglang` package in `tree`. Raises UserError where its flags cannot be read at all."""
    module = tree.module("sglang.srt.server_args")
    if module is None:
        raise UserError(f"{tree.package / SERVER_ARGS} cannot be parsed.", "Is the copy whole? Fetch the file again.")
    gaps = Gaps()
    reader = _Reader(tree, module, gaps)
    flags = reader.flags()
    version = read_version(tree)
    unread = (*_about_version(version), *dict.fromkeys(gaps.says))
    return Catalogue(version, flags, str(tree.package), unread, frozenset(gaps.unsure), gaps.partial)


class _Reader:
    def __init__(self, tree: SourceTree, module: Module, gaps: Gaps) -> None:
        self._tree = tree
        self._module = module
        self._gaps = gaps
        self._evaluator = Evaluator(tree)
        self._owner = self._server_args()
        self._fields = self._all_fields()

    def flags(self) -> tuple[Flag, ...]:
        methods = {m.name: m for m in self._owner.node.body if isinstance(m, ast.FunctionDef)}
        registering = methods.get("add_cli_args")
        if registering is None:
            raise UserError(
                "ServerArgs has no add_cli_args; the flags of this tree are declared in a new way.", "Use --version."
            )
        scope = module_scope(self._module)
        registrations = Registrations(registering, scope, self._evaluator, self._given(), self._gaps)
        specs: list[FlagSpec] = []
        for spec in registrations.read():
            specs += [spec] if spec is not None else self._specs_of_fields()
        moved = moved_fields(methods.get("from_cli_args"))
        flags = [finish(spec, self._evaluator, self._gaps) for spec in specs if self._is_option(spec)]
        return tuple(replace(flag, dest=moved.get(flag.dest, flag.dest)) for flag in flags)

    def _is_option(self, spec: FlagSpec) -> bool:
        odd = [spelling for spelling in spec.spellings if not spelling.startswith("-")]
        if odd:
            self._gaps.says.append(f"{', '.join(odd)} is declared as an argument without a name, which is not listed.")
        return bool(spec.spellings) and not odd

    def _server_args(self) -> Class:
        for statement in self._module.body:
            if isinstance(statement, ast.ClassDef) and statement.name == "ServerArgs":
                return Class(statement, self._module)
        raise UserError(
            f"{self._tree.package / SERVER_ARGS} has no class ServerArgs.", "Is this SGLang 0.4.7 or later?"
        )

    def _all_fields(self) -> dict[str, Field]:
        own = {f.name: f for f in fields_of(self._owner, self._evaluator)}
        shared = {f.name: f for owner in self._namespaces() for f in fields_of(owner, self._evaluator)}
        return {**{name: shared[name] for name in self._field_order(shared)}, **own}

    def _namespaces(self) -> list[Class]:
        """The structs that declare fields, from 0.5.20 on; in the order in which they are assembled."""
        folder = self._tree.submodules(_FIELDS_FOLDER)
        if not folder and not self._module.index[_NAMESPACES]:
            return []
        try:
            listed = self._evaluator.names.lookup(_NAMESPACES, module_scope(self._module))
            if isinstance(listed, list | tuple):
                return [owner for owner in listed if isinstance(owner, Class)]
            reason = f"{_NAMESPACES} is not a list"
        except NotStatic as error:
            reason = str(error)
        self._gaps.of_some(f"Flags may be missing here: {reason}; every class in {_FIELDS_FOLDER} was read instead.")
        return [owner for dotted in folder for owner in self._namespaces_in(dotted)]

    def _namespaces_in(self, dotted: str) -> list[Class]:
        module = self._tree.module(dotted)
        if module is None:
            return []
        classes = [statement for statement in module.body if isinstance(statement, ast.ClassDef)]
        return [Class(node, module) for node in classes if Index(node.body)["_NS_PATH"]]

    def _field_order(self, shared: Mapping[str, Field]) -> list[str]:
        """The names of `shared` as the constructor orders them; in order of declaration where that is not stated."""
        module = self._tree.module(_ORDER_MODULE) if shared else None
        listed: Any = ()
        if module is not None and module.index[_ORDER]:
            with contextlib.suppress(NotStatic):
                listed = self._evaluator.names.lookup(_ORDER, module_scope(module))
        stated = listed if isinstance(listed, list | tuple) else ()
        known = [name for name in stated if isinstance(name, str) and name in shared]
        return [*known, *(name for name in shared if name not in set(known))]

    def _specs_of_fields(self) -> list[FlagSpec]:
        found = (spec_of(declared, self._evaluator, self._gaps) for declared in self._fields.values())
        return [spec for spec in found if spec is not None]

    def _given(self) -> dict[str, Any]:
        """Names that `add_cli_args` uses beside those of its module: defaults of fields, in both ways of asking."""
        return {"ServerArgs": _Defaults(self), "_declared_default": self.default}

    def default(self, name: str) -> Any:
        """The declared default of a field. Raises NotStatic where there is none."""
        if name not in self._fields:
            raise NotStatic(f"there is no field {name}")
        return default_of(self._fields[name], self._evaluator)


class _Defaults:
    """Stands for the class in `ServerArgs.field`."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader

    def field(self, name: str) -> Any:
        return self._reader.default(name)


def _about_version(version: str) -> list[str]:
    parsed = parse_version(version)
    if parsed is None:
        return ["The tree does not say which version it is."]
    if release(parsed) > NEWEST_KNOWN:
        return [
            f"{version} is newer than {NEWEST_KNOWN}, the newest checked; a new way to declare flags would be missed."
        ]
    if release(parsed) < OLDEST_KNOWN:
        return [f"{version} is older than {OLDEST_KNOWN}, the first with pipeline parallelism."]
    return []
