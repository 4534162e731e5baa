"""Stands where the GPU kernels' package would be, so that SGLang can be imported without one.

A name that is looked up exists; a kernel that is called says which one was missing.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__version__ = "0.0.0+cpu.stub"


def _absent(name: str) -> Callable[..., Any]:
    def kernel(*args: object, **kwargs: object) -> None:
        raise NotImplementedError(f"{name} needs a GPU")

    return kernel


def _names_of(module: str) -> Callable[[str], Any]:
    def lookup(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _absent(f"{module}.{name}")

    return lookup


__getattr__ = _names_of(__name__)


class _Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        # SGLang has a fallback of its own where this one cannot be imported.
        if not name.startswith("sgl_kernel.") or name == "sgl_kernel.scalar_type":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__path__ = []
        module.__getattr__ = _names_of(module.__name__)  # type: ignore[method-assign]


sys.meta_path.append(_Submodules())
