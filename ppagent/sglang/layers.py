"""How SGLang lays a model's layers over pipeline stages (srt/distributed/utils.py: get_pp_indices)."""

from ppagent.sglang.versions import at_least, parse_version


def default_split(layers: int, stages: int, version: str) -> tuple[int, ...]:
    """Layers of each stage by the version's own rule, first stage first.

    Up to 0.5.5 the last stage takes the whole remainder; from 0.5.6 (and for an unknown version) the last
    `layers % stages` stages take one more each.
    """
    base, extra = divmod(layers, stages)
    if at_least(parse_version(version), "0.5.6") is False:
        return (*[base] * (stages - 1), base + extra)
    return tuple(base + (stage >= stages - extra) for stage in range(stages))


def parse_partition(text: str) -> tuple[int, ...]:
    """The counts of SGLANG_PP_LAYER_PARTITION ("8,8,5"); empty where the text is no such list."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
