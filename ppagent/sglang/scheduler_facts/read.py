"""The facts of one installation: read in its source where that is at hand, otherwise taken from the table."""

from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from ppagent.sglang.flags.source import SourceTree, read_version
from ppagent.sglang.scheduler_facts import scheduler
from ppagent.sglang.scheduler_facts.code import Place, open_tree
from ppagent.sglang.scheduler_facts.facts import SchedulerFacts, SourceFact, T
from ppagent.sglang.scheduler_facts.table import Table
from ppagent.sglang.versions import NEWEST_KNOWN, OLDEST_KNOWN, parse_version, release

_UNREAD = "not found in this source tree"


def read_scheduler_facts(tree: Path | SourceTree | None, version: str | None) -> SchedulerFacts:
    """Facts of the SGLang in `tree` (the package's folder, or one that holds it) or of a version.

    Each fact that the tree does not show is answered by the table, and its note says so. `version` None is looked up
    in the tree; where nobody knows it, the newest known one is assumed and every note says that.
    """
    source = open_tree(tree)
    known = version or (read_version(source) if source else "")
    parsed = parse_version(known) if known else None
    facts = Table(parsed, _version_note(parsed, known)).facts(known)
    return facts if source is None else _with_tree(facts, source)


def _version_note(version: Version | None, text: str) -> str:
    if version is None:
        said = f"version {text!r} is not understood" if text else "version unknown"
        return f"{said}, {NEWEST_KNOWN} assumed"
    if release(version) > NEWEST_KNOWN:
        return f"newer than {NEWEST_KNOWN}, the newest version known here"
    return f"older than {OLDEST_KNOWN}, which has no pipeline" if release(version) < OLDEST_KNOWN else ""


def _with_tree(facts: SchedulerFacts, tree: SourceTree) -> SchedulerFacts:
    limit = scheduler.read_limit(tree)
    rule = (limit[1], limit[2]) if limit else None
    key = (limit[0], limit[2]) if limit else None
    return replace(
        facts,
        slots=_from_tree(facts.slots, scheduler.read_slots(tree)),
        default_slot_limit=_from_tree(facts.default_slot_limit, rule),
        has_async_depth=_from_tree(facts.has_async_depth, scheduler.read_async_depth(tree)),
        layer_split=_from_tree(facts.layer_split, scheduler.read_layer_split(tree)),
        live_keys=_from_tree(facts.live_keys, scheduler.read_live_keys(tree)),
        live_answer_is_true=_from_tree(facts.live_answer_is_true, scheduler.read_live_answer(tree)),
        slot_limit_key=_from_tree(facts.slot_limit_key, key),
    )


def _from_tree(tabled: SourceFact[T], read: tuple[T, Place] | None) -> SourceFact[T]:
    if read is None:
        return replace(tabled, note="; ".join(filter(None, (_UNREAD, tabled.note))))
    value, place = read
    return SourceFact(value, place.file, place.function, place.line or None, "tree")
