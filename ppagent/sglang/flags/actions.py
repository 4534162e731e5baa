"""What argparse does with a flag's `action`: SGLang's own classes are told by name and by their source."""

import ast
from dataclasses import dataclass
from typing import Any

from ppagent.sglang.flags.evaluate import Evaluator
from ppagent.sglang.flags.flag import Action
from ppagent.sglang.flags.objects import Class, External, NotStatic, module_scope

_PLAIN: dict[str, Action] = {
    "store": "store", "store_true": "store_true", "store_false": "store_false", "store_const": "store_const",
    "append": "append", "extend": "append",
}  # fmt: skip


@dataclass(frozen=True)
class Behaviour:
    """How one action takes values and what it stores."""

    action: Action
    nargs: Any = None
    const: Any = None
    default: Any = None
    deprecated: bool = False
    stops: bool = False
    """Whether using the flag ends the launch, whatever else it is given."""


def behaviour_of(value: Any, evaluator: Evaluator) -> Behaviour:
    """The behaviour of an evaluated `action=`. Raises NotStatic for one that cannot be told."""
    match value:
        case None:
            return Behaviour("store")
        case "store_true":
            return Behaviour("store_true", nargs=0, const=True, default=False)
        case "store_false":
            return Behaviour("store_false", nargs=0, const=False, default=True)
        case str() if value in _PLAIN:
            return Behaviour(_PLAIN[value], nargs=0 if value == "store_const" else None)
        case External("argparse.BooleanOptionalAction"):
            return Behaviour("boolean_optional", nargs=0)
        case Class():
            return _of_class(value, evaluator)
    raise NotStatic("its action is not one that is known")


def _of_class(action: Class, evaluator: Evaluator) -> Behaviour:
    given = _defaults_of_init(action, evaluator)
    nargs, default = given.get("nargs"), given.get("default")
    deprecated = action.node.name.startswith("Deprecated")
    if "const_value" in given:
        return Behaviour("store_const", nargs, None, default, deprecated)
    if nargs == 0 and given.get("const") is True:
        return Behaviour("store_true", nargs, True, default, deprecated)
    if nargs == 0:
        return Behaviour(
            "deprecated" if deprecated else "store_const", nargs, None, default, deprecated, _raises(action)
        )
    return Behaviour("store", nargs, given.get("const"), default, deprecated)


def _defaults_of_init(action: Class, evaluator: Evaluator) -> dict[str, Any]:
    scope = module_scope(action.module)
    for method in action.node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            names = [argument.arg for argument in method.args.args]
            pairs = zip(reversed(names), reversed(method.args.defaults), strict=False)
            return {name: evaluator.value(node, scope) for name, node in pairs}
    return {}


def _raises(action: Class) -> bool:
    """Whether calling the action always raises: SGLang's way, up to 0.5.7, to refuse a deprecated flag."""
    calls = [m for m in action.node.body if isinstance(m, ast.FunctionDef) and m.name == "__call__"]
    return any(isinstance(statement, ast.Raise) for call in calls for statement in call.body)
