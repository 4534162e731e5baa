"""What a flag is called in another version, and what an abbreviation that became ambiguous was meant to say."""

from difflib import get_close_matches

from ppagent.sglang.flags.flag import Catalogue
from ppagent.sglang.flags.history import spans

_FAMILIES = (
    ("--max-micro-batch-size", "--pp-max-micro-batch-size"),
    ("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode"),
    ("--cuda-graph-bs", "--cuda-graph-bs-decode"),
    ("--disable-cuda-graph", "--disable-decode-cuda-graph"),
    ("--attention-context-parallel-size", "--attn-cp-size"),
    ("--stream-output", "--incremental-streaming-output"),
)
"""Names of one lever, oldest first: 0.5.3.post1 for the slot limit, 0.5.14 for the graphs and sizes, 0.5.10."""
_MEANT = {
    "--pp": "--pp-size",
    "--tp": "--tp-size",
    "--dp": "--dp-size",
    "--ep": "--ep-size",
    "--cuda-graph-max-bs": "--cuda-graph-max-bs-decode",
    "--cuda-graph-bs": "--cuda-graph-bs-decode",
}


def other_name(written: str, catalogue: Catalogue) -> str | None:
    """How this version spells a flag that it does not know under the written name; None where nothing is near."""
    known = catalogue.by_spelling
    dashed = written.replace("_", "-")
    if dashed in known:
        return dashed
    for family in _FAMILIES:
        if dashed in family:
            return next((name for name in reversed(family) if name in known and not known[name].deprecated), None)
    replacements = [span.flag.replaced_by for span in reversed(spans(dashed)) if span.flag.replaced_by]
    for replacement in replacements:
        if replacement.split()[0].partition("=")[0] in known:
            return replacement
    return next(iter(get_close_matches(dashed, known, n=1, cutoff=0.8)), None)


def versions_with(written: str) -> str:
    """Words on the published versions that have the flag; empty where none does."""
    found = spans(written)
    if not found:
        return ""
    first, last = found[0].since, found[-1].until
    return f"it is in {first} only" if first == last else f"it is in {first} to {last}"


def meant_by(written: str, candidates: tuple[str, ...]) -> str | None:
    """What an ambiguous abbreviation most likely stands for: what it meant before others came to begin like it."""
    meant = _MEANT.get(written)
    return meant if meant in candidates else None
