"""Reads the pipeline's facts in the scheduler's own source: slots, slot limit, layer split, live setter."""

import ast
from collections.abc import Iterable, Iterator

from ppagent.sglang.flags.source import SourceTree
from ppagent.sglang.scheduler_facts.code import Place, dotted, functions, has, names_in
from ppagent.sglang.scheduler_facts.facts import LIMIT_RULE, SlotRule, SplitRule

SCHEDULER = "srt/managers/scheduler.py"
PP_LOOP = "srt/managers/scheduler_pp_mixin.py"
SERVER_ARGS = "srt/server_args.py"
PARALLEL_FIELDS = "srt/arg_groups/fields/parallel.py"
INTERNAL_STATE = "srt/managers/scheduler_components/internal_state.py"
_DEPTH = "pp_async_batch_depth"
_LIMIT_KEYS = ("pp_max_micro_batch_size", "max_micro_batch_size")


def read_slots(tree: SourceTree) -> tuple[SlotRule, Place] | None:
    """The length of the ring: `pp_loop_size` where it exists, otherwise the lists that `event_loop_pp` makes."""
    for file, function in functions(tree, PP_LOOP, SCHEDULER):
        for node in ast.walk(function):
            value = _assigned_to(node, "pp_loop_size")
            if value is not None and "pp_size" in names_in(value):
                rule: SlotRule = "pp_size + pp_async_batch_depth" if _DEPTH in names_in(value) else "pp_size"
                return rule, Place(file, function.name, value.lineno)
    for file, function in functions(tree, PP_LOOP, SCHEDULER):
        for node in ast.walk(function) if function.name in ("event_loop_pp", "init_pp_loop_state") else ():
            match node:
                case ast.BinOp(left=ast.List(), op=ast.Mult(), right=ast.Attribute(attr="pp_size")):
                    return "pp_size", Place(file, function.name, node.lineno)
    return None


def read_limit(tree: SourceTree) -> tuple[str, str, Place] | None:
    """Field of the slot limit, the rule of its default, and where the scheduler sets it."""
    for file, function in functions(tree, SCHEDULER):
        for node in ast.walk(function):
            for key in _LIMIT_KEYS:
                value = _assigned_to(node, key)
                if value is not None and _is_share(value):
                    return key, LIMIT_RULE, Place(file, function.name, value.lineno)
    return None


def _is_share(value: ast.expr) -> bool:
    """Whether it reads max(max_running_requests // pp_size, 1), wherever the two come from."""
    match value:
        case ast.Call(func=ast.Name(id="max"), args=[ast.BinOp(left, ast.FloorDiv(), right), ast.Constant(value=1)]):
            return "max_running_requests" in names_in(left) and "pp_size" in names_in(right)
    return False


def read_async_depth(tree: SourceTree) -> tuple[bool, Place] | None:
    """Whether the argument is declared; the loop answers where the arguments are not in the tree."""
    for file in (SERVER_ARGS, PARALLEL_FIELDS):
        module = tree.module(dotted(file))
        for owner in (node for node in (module.body if module else ()) if isinstance(node, ast.ClassDef)):
            for node in owner.body:
                if isinstance(node, ast.AnnAssign) and _target_name(node.target) == _DEPTH:
                    return True, Place(file, owner.name, node.lineno)
    if has(tree, SERVER_ARGS):
        return False, Place(SERVER_ARGS, "ServerArgs", 0)
    slots = read_slots(tree)
    return (slots[0] != "pp_size", slots[1]) if slots else None


def read_layer_split(tree: SourceTree) -> tuple[SplitRule, Place] | None:
    """Which stages `get_pp_indices` gives the layers that do not divide."""
    for file, function in functions(tree, "srt/distributed/utils.py"):
        for node in ast.walk(function) if function.name == "get_pp_indices" else ():
            match node:
                case ast.If(test=ast.Compare(left=ast.Name(id="pp_rank"), ops=[ast.GtE()], comparators=[bound])):
                    if "remainder" in names_in(bound):
                        return "one more on the last stages", Place(file, function.name, node.lineno)
                case ast.If(
                    test=ast.Compare(left=ast.Name(id="pp_rank"), ops=[ast.Eq()]), body=[ast.Assign(value=end)]
                ):
                    if "num_hidden_layers" in names_in(end):
                        return "remainder on the last stage", Place(file, function.name, node.lineno)
    return None


def read_live_keys(tree: SourceTree) -> tuple[tuple[str, ...], Place] | None:
    """The set the handler checks against, or the table of handlers that took its place."""
    for file, function in functions(tree, INTERNAL_STATE, SCHEDULER):
        for node in ast.walk(function) if function.name in ("set_internal_state", "_update_handlers") else ():
            match node:
                case ast.Return(value=ast.Dict(keys=keys)) if function.name == "_update_handlers":
                    return tuple(_texts(keys)), Place(file, function.name, node.lineno)
                case ast.Assign(targets=[ast.Name(id="args_allow_update")], value=value):
                    return tuple(_texts(ast.walk(value))), Place(file, function.name, node.lineno)
    return None


def read_live_answer(tree: SourceTree) -> tuple[bool, Place] | None:
    """Whether `updated` in the setter's answer can be anything but True."""
    for file, function in functions(tree, INTERNAL_STATE, SCHEDULER):
        if function.name != "set_internal_state":
            continue
        answers = [
            keyword.value
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and "SetInternalStateReqOutput" in names_in(node.func)
            for keyword in node.keywords
            if keyword.arg == "updated"
        ]
        if answers:
            truthful = any(not (isinstance(answer, ast.Constant) and answer.value is True) for answer in answers)
            return truthful, Place(file, function.name, answers[0].lineno)
    return None


def _assigned_to(node: ast.AST, name: str) -> ast.expr | None:
    """What a statement or keyword gives to an attribute, variable or dictionary key of that name."""
    match node:
        case ast.Assign(targets=[target], value=value) if _target_name(target) == name:
            return value
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _target_name(target) == name:
            return value
        case ast.keyword(arg=arg, value=value) if arg == name:
            return value
    return None


def _target_name(target: ast.expr) -> str:
    match target:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _texts(nodes: Iterable[ast.AST | None]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Constant(value=str(text)):
                yield text
