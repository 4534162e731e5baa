"""Whether the model can be split over stages in this version."""

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources

from packaging.version import Version

from ppagent.sglang.legality.case import Case
from ppagent.sglang.legality.model_source import takes_stages
from ppagent.sglang.legality.problem import Problem
from ppagent.sglang.scheduler_facts.era import since

_RUNNER = "srt/model_executor/model_runner.py"
_MLA = frozenset(
    {
        "DeepseekV2ForCausalLM",
        "DeepseekV3ForCausalLM",
        "DeepseekVL2ForCausalLM",
        "KimiVLForConditionalGeneration",
        "MiniCPM3ForCausalLM",
    }
)
"""Classes with latent attention in 0.4.7 to 0.4.10 (`srt/configs/model_config.py`)."""


def latent_attention(case: Case) -> Iterator[Problem]:
    """Up to 0.4.10 latent attention and a pipeline exclude each other, while the memory is measured."""
    if not case.pipelined or case.since("0.5.1"):
        return
    for name in case.model_architectures:
        if name in _MLA:
            says = f"{name} has latent attention, which has no pipeline in {case.catalogue.version}; 0.5.1 has."
            source = f"{_RUNNER}: profile_max_num_token (table by version)"
            yield Problem("refused", case.written("pp_size"), says, "--pp-size 1, or SGLang 0.5.1 or later", source)


def model_takes_stages(case: Case) -> Iterator[Problem]:
    """The class's `forward` has to take what the stage before sends. Asked after the weights are loaded (0.5.5.post1+);
    before that the server falls over its first batch. Says nothing about a class that is not known."""
    if not case.pipelined:
        return
    for name in case.model_architectures:
        if name in _MLA and not case.since("0.5.1"):
            continue
        takes, source = _answer(case, name)
        if takes is False:
            later = _first_with(name, case.version)
            when = "after loading the weights" if case.since("0.5.5.post1") else "with its first batch"
            says = f"{name} cannot be split over stages in {case.catalogue.version}: the server stops {when}."
            instead = f"--pp-size 1 with more --tp-size{f', or SGLang {later} or later' if later else ''}"
            yield Problem("refused", case.written("pp_size"), says, instead, source)


def _answer(case: Case, name: str) -> tuple[bool | None, str]:
    read = takes_stages(case.tree, name) if case.tree is not None else None
    if read is not None:
        return read[0], str(read[1])
    return takes_stages_by_version(name, case.version), "model classes by version"


def takes_stages_by_version(name: str, version: Version | None) -> bool | None:
    """What the published versions 0.4.7 to 0.5.23 say of a model class; None where they do not have it."""
    answer = None
    for first, takes in _table().get(name, ()):
        if since(version, first):
            answer = takes
    return answer


def _first_with(name: str, version: Version | None) -> str | None:
    """The first later version whose class takes stages."""
    changes = _table().get(name, ())
    return next((first for first, takes in changes if takes and not since(version, first)), None)


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[tuple[str, bool | None], ...]]:
    """Class -> (version, whether it takes stages from there on; None where it is gone)."""
    text = resources.files("ppagent.sglang.legality").joinpath("model_support.json").read_text("utf-8")
    return {name: tuple((first, takes) for first, takes in changes) for name, changes in json.loads(text).items()}


RULES = (latent_attention, model_takes_stages)
