"""How SGLang deals a model's layers over pipeline stages (`srt/distributed/utils.py: get_pp_indices`)."""

from collections.abc import Sequence

from packaging.version import Version

from ppagent.errors import UserError
from ppagent.sglang.versions import at_least, parse_version

PARTITION_VARIABLE = "SGLANG_PP_LAYER_PARTITION"


def default_split(layers: int, stages: int, version: str | Version | None) -> tuple[int, ...]:
    """Layers of each stage when no partition is given.

    Up to 0.5.5 every stage gets `layers // stages` and the last one the whole remainder as well; from 0.5.6 the last
    `layers % stages` stages get one more each. An unknown version is taken for a new one.
    """
    if stages < 1:
        raise UserError(f"A pipeline has at least one stage, not {stages}.", "Give the pipeline size (--pp-size).")
    known = parse_version(version) if isinstance(version, str) else version
    each, rest = divmod(layers, stages)
    if at_least(known, "0.5.6") is False:
        return (*[each] * (stages - 1), each + rest)
    return (*[each] * (stages - rest), *[each + 1] * rest)


def parse_partition(text: str) -> tuple[int, ...]:
    """The stages' layer counts in `SGLANG_PP_LAYER_PARTITION="8,8,..."`. Raises UserError where it is no such list."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f'{PARTITION_VARIABLE}="{text}" is no list of layer counts.',
            'Write one number a stage with commas between: "8,8,8,7".',
        ) from None


def spell_partition(split: Sequence[int]) -> str:
    """The split as the variable takes it."""
    return ",".join(str(count) for count in split)


def check_partition(split: Sequence[int], layers: int | None, stages: int) -> str | None:
    """What SGLang refuses about a split, in a sentence; None where it takes it. `layers` None: the sum is unchecked."""
    if len(split) != stages:
        return f"The partition names {len(split)} stages, the pipeline has {stages}."
    if layers is not None and sum(split) != layers:
        return f"The partition adds up to {sum(split)} layers, the model has {layers}."
    return None
