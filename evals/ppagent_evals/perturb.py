"""The corpus made worse: artifacts taken away one by one, logs cut, thinned and shuffled, hosts and answers missing.

A diagnosis may then fall back to "not enough evidence"; it may never name a cause that is not there.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ppagent.errors import PpagentError
from ppagent_evals.answer import Answer, read_answer
from ppagent_evals.confidence import Confidence, confidences_of
from ppagent_evals.runner import Diagnose
from ppagent_evals.scorer import Document
from ppagent_evals.spoilers import LOG_SPOILERS, Lines, Spoil, remove, rewrite, spoilers_of_folder

NEVER_TOUCHED = frozenset({"answer.yaml", "relaunches.jsonl"})


@dataclass(frozen=True)
class Variant:
    """One way in which one recording was made worse."""

    recording: Path
    label: str
    spoil: Spoil


@dataclass(frozen=True)
class VariantResult:
    """What a diagnosis made of it."""

    id: str
    label: str
    wrong_causes: tuple[str, ...]
    verdict: str
    wrongly_healthy: bool = False
    """Whether it was called healthy though the whole recording is of a server with a fault."""
    confidences: tuple[Confidence, ...] = ()


def variants_of(recording: Path) -> Iterator[Variant]:
    """Every variant of one recorded folder."""
    for path in sorted(p for p in recording.rglob("*") if p.is_file() and p.name not in NEVER_TOUCHED):
        inside = path.relative_to(recording)
        if "source" in inside.parts or inside.parent.name == "metrics" and path.stem != "1":
            continue
        whole = inside.parent if inside.parent.name == "metrics" else inside
        yield Variant(recording, f"without {whole}", partial(remove, whole))
        if path.name == "server.log":
            for name, change in LOG_SPOILERS.items():
                yield Variant(recording, f"{inside} {name}", partial(rewrite, inside, change))
        if path.name == "gpus.csv":
            yield Variant(recording, f"half of {inside}", partial(rewrite, inside, _half_the_text))
    for label, spoil in spoilers_of_folder(recording):
        yield Variant(recording, label, spoil)


def _half_the_text(lines: Lines) -> Lines:
    text = "".join(lines)
    return [text[: len(text) // 2]]


def run_variant(variant: Variant, diagnose: Diagnose) -> VariantResult:
    """Diagnoses a spoiled copy. An error in words is an answer too; only a wrong cause counts against it."""
    answer = read_answer(variant.recording)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / variant.recording.name
        shutil.copytree(variant.recording, copy, copy_function=os.link)
        variant.spoil(copy)
        try:
            document: Document = diagnose(copy)
        except PpagentError as error:
            return VariantResult(variant.recording.name, variant.label, (), str(error))
    return _result(variant, document, answer)


def _result(variant: Variant, document: Document, answer: Answer) -> VariantResult:
    accepted = {*answer.causes, *answer.also_accepted}
    hypotheses = document["hypotheses"]
    supported = {h["cause"] for h in hypotheses if h["state"] == "supported"}
    return VariantResult(
        variant.recording.name,
        variant.label,
        tuple(sorted(supported - accepted)),
        document["verdict"],
        wrongly_healthy=document["verdict"] == "healthy" and answer.verdict == "diagnosed",
        confidences=confidences_of(document, answer),
    )


def summary(results: Sequence[VariantResult]) -> str:
    """How often a spoiled recording led to a wrong cause, and where."""
    wrong = [result for result in results if result.wrong_causes]
    well = [result for result in results if result.wrongly_healthy]
    lines = [f"{len(results)} spoiled recordings, a wrong cause in {len(wrong)} ({_share(wrong, results)})"]
    lines += [f"  {r.id}, {r.label}: {', '.join(r.wrong_causes)}" for r in wrong]
    lines.append(f"a faulty server called healthy in {len(well)} ({_share(well, results)})")
    lines += [f"  {r.id}, {r.label}" for r in well]
    return "\n".join(lines)


def _share(some: Sequence[VariantResult], results: Sequence[VariantResult]) -> str:
    return f"{len(some) / len(results) if results else 0.0:.1%}"
