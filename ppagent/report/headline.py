"""The line at the top of a report: which server this is, and how far its figures can be trusted."""

import re
from collections import Counter

from ppagent.agent.investigation import Investigation
from ppagent.causes.situation import data_parallel, stages, tensor_parallel
from ppagent.evidence.facts import Fact, Facts
from ppagent.sglang.flags.history import between, versions_known

_ORIGINS = {
    "measured": "recorded from a real server",
    "reconstructed": "reconstructed from a report: gaps are filled with plausible text",
    "synthetic": "made up: no real server stands behind these figures",
}


def headline(found: Investigation) -> str:
    """Target, version, parallel shape, GPUs, and of when it is, as far as they are known."""
    facts = found.facts
    parts = [found.target_name, _versions(facts), _shape(facts), _gpus(facts)]
    parts.append(_when(found))
    return " · ".join(part for part in parts if part)


def provenance(found: Investigation) -> str:
    """For a recording, where its figures come from, and whether a device was emulated."""
    if found.target_kind != "recording":
        return ""
    origin = _ORIGINS.get(found.facts.text("recording.origin") or "", "")
    emulated = "emulated" in (found.facts.text("recording.gpus") or "")
    device = "the device is emulated, so its speed is not a GPU's" if emulated else ""
    return "; ".join(part for part in (origin, device) if part)


def _when(found: Investigation) -> str:
    """The day of a recording; a live server is of now, however old its log's last line is."""
    if found.target_kind != "recording":
        return "live"
    recorded = found.facts.text("recording.at")
    return f"recorded {recorded}" if recorded else ""


def _versions(facts: Facts) -> str:
    """The version, or every host's where they differ: nodes of one deployment have to run the same."""
    version = facts.text("engine.version")
    if version is None:
        return ""
    best: dict[str, Fact] = {}
    for fact in facts.all("engine.version"):
        held = best.get(fact.host)
        if fact.host and fact.value is not None and (held is None or fact.authority > held.authority):
            best[fact.host] = fact
    several = {str(fact.value) for fact in best.values()}
    if len(several) < 2:
        place = _by_settings(facts) or between(version)
        return f"SGLang {version} ({place})" if place else f"SGLang {version}"
    return "SGLang " + ", ".join(f"{fact.value} on {host}" for host, fact in best.items()) + " (versions differ)"


def _by_settings(facts: Facts) -> str:
    """How the version is known where only the settings in the log tell it, as a clause; empty where it was read."""
    version, alike = facts.get("engine.version"), facts.get("engine.alike")
    if version is None or alike is None or alike.evidence != version.evidence:
        return ""
    alike_ones = [str(other) for other in facts.items("engine.alike")]
    others = [other for other in alike_ones if other != version.value]
    stated = {str(f.value) for f in facts.all("engine.version") if f.value is not None} - {str(version.value), *others}
    # One that came out since has new settings, which nobody here can tell from what was never an option.
    likes = [*others, "later"] if versions_known()[-1] in alike_ones else others
    told = [f"or {' or '.join(likes)}"] if likes else []
    told += ["by the settings that its log names", *(f"{text} was stated" for text in sorted(stated))]
    return ", ".join(told)


def _shape(facts: Facts) -> str:
    """PP8 TP1 as far as it is known, and DP where there is more than one rank."""
    if not any(name.startswith(("args.", "launch.")) for name in facts):
        return ""
    ring, tensor, data = stages(facts), tensor_parallel(facts), data_parallel(facts)
    data = data if data is not None and data.value > 1 else None
    known = {"PP": ring, "TP": tensor, "DP": data}
    return " ".join(f"{axis}{size.value:g}" for axis, size in known.items() if size is not None)


def _gpus(facts: Facts) -> str:
    """8x name, as sampled, else as the recording or the user names them."""
    names = Counter(str(name) for name in facts.table("gpu.names").values())
    if names:
        return " + ".join(f"{count}x {_short(name)}" for name, count in names.items())
    named = facts.text("recording.gpus") or facts.text("stated.gpu_model")
    count = facts.number("stated.gpu_count")
    if named is None:
        return ""
    if named.lower().startswith("none"):
        return "no GPU"
    return f"{count:g}x {_short(named)}" if count and not re.match(r"\d", named) else _short(named)


def _short(name: str) -> str:
    return name.removeprefix("NVIDIA ").strip()
