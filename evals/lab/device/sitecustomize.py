"""Lets the unmodified SGLang wheel start without a GPU, and hangs the emulated device on it.

Python imports this file by itself in every process that has its folder on PYTHONPATH, SGLang's children included.
A module is changed right after SGLang has imported it; nothing of SGLang is copied or replaced.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType


def _declare_torchvision_operators() -> None:
    """torchvision's wheel wants a CUDA torch for its operators; SGLang only needs them to be declared."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _kept.append(library)


def _emulate_stage_times(module: ModuleType) -> None:
    import lab_device

    lab_device.time_forwards(module)


def _emulate_ring(module: ModuleType) -> None:
    import lab_device

    lab_device.stand_in_for_cuda_events(module)
    lab_device.carry_device_time(module)


def _slow_tokenizer(module: ModuleType) -> None:
    import lab_tokenizer

    lab_tokenizer.slow_down(module, float(os.environ["LAB_TOKENIZE_MS"]) / 1000)


_kept: list[object] = []
_before = {"torchvision": _declare_torchvision_operators}
_after = {"sglang.srt.managers.scheduler_pp_mixin": _emulate_ring}
if os.environ.get("LAB_STAGE_MS"):
    _after["sglang.srt.model_executor.model_runner"] = _emulate_stage_times
if os.environ.get("LAB_TOKENIZE_MS"):
    _after["sglang.srt.managers.tokenizer_manager"] = _slow_tokenizer


class _Hook(importlib.abc.MetaPathFinder):
    """Each name once: it is taken out before the real search starts, so that this finder is not asked again."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name in _before:
            _before.pop(name)()
        if name not in _after:
            return None
        change = _after.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


sys.meta_path.insert(0, _Hook())
