"""Whether a model class can be split over stages, read in its source.

SGLang asks one thing (`srt/model_executor/model_runner.py`, `support_pp`): does `forward` of the model's class take an
argument `pp_proxy_tensors`? What a wrapper hands on to the model inside it does not count.
"""

import ast
import re
from collections.abc import Iterator

from ppagent.sglang.flags.source import Module, SourceTree
from ppagent.sglang.scheduler_facts.code import Place

MODELS = "srt/models"
PROXY = "pp_proxy_tensors"


def takes_stages(tree: SourceTree, architecture: str) -> tuple[bool, Place] | None:
    """Whether the class of that name takes stages, and where its `forward` stands; None where it is not found."""
    for dotted in tree.submodules(MODELS):
        if _mentions(tree, dotted, architecture):
            module = tree.module(dotted)
            if module is not None and _class(module, architecture) is not None:
                return _forward(tree, module, architecture, 0)
    return None


def architectures(tree: SourceTree) -> Iterator[str]:
    """Names of the model classes a tree can load: what its model files list as `EntryClass`."""
    for dotted in tree.submodules(MODELS):
        module = tree.module(dotted)
        for statement in module.body if module else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id="EntryClass")], value=value):
                    yield from (node.id for node in ast.walk(value) if isinstance(node, ast.Name))


def _mentions(tree: SourceTree, dotted: str, name: str) -> bool:
    data = tree.read("/".join(dotted.split(".")[1:]) + ".py")
    return data is not None and re.search(rb"^class %s\b" % re.escape(name.encode()), data, re.MULTILINE) is not None


def _class(module: Module, name: str) -> ast.ClassDef | None:
    found = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == name)
    return next(found, None)


def _forward(tree: SourceTree, module: Module, name: str, depth: int) -> tuple[bool, Place] | None:
    """The first `forward` in the class or its bases, left to right."""
    node = _class(module, name)
    if node is None or depth > 8:
        return None
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "forward":
            arguments = member.args
            names = {arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
            file = "/".join(module.dotted.split(".")[1:]) + ".py"
            return PROXY in names, Place(file, f"{name}.forward", member.lineno)
    for base in node.bases:
        found = _in_base(tree, module, base, depth + 1)
        if found is not None:
            return found
    return None


def _in_base(tree: SourceTree, module: Module, base: ast.expr, depth: int) -> tuple[bool, Place] | None:
    if not isinstance(base, ast.Name):
        return None
    if _class(module, base.id) is not None:
        return _forward(tree, module, base.id, depth)
    for statement in module.body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if (alias.asname or alias.name) == base.id:
                    source = tree.module(module.absolute(statement))
                    return _forward(tree, source, alias.name, depth) if source is not None else None
    return None
