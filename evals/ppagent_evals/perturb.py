"""The corpus made worse: artifacts taken away one by one, logs cut, thinned and shuffled.

A diagnosis may then fall back to "not enough evidence"; it may never name a cause that is not there.
"""

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ppagent.errors import PpagentError
from ppagent_evals.answer import read_answer
from ppagent_evals.runner import Diagnose
from ppagent_evals.scorer import Document

NEVER_TOUCHED = frozenset({"answer.yaml", "relaunches.jsonl"})
Spoil = Callable[[Path], None]


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


def variants_of(recording: Path) -> Iterator[Variant]:
    """Every variant of one recorded folder; a single file has only the spoiled logs."""
    for path in sorted(p for p in recording.rglob("*") if p.is_file() and p.name not in NEVER_TOUCHED):
        inside = path.relative_to(recording)
        if "source" in inside.parts or inside.parent.name == "metrics" and path.stem != "1":
            continue
        whole = inside.parent if inside.parent.name == "metrics" else inside
        yield Variant(recording, f"without {whole}", partial(_remove, whole))
        if path.name == "server.log":
            for name, change in LOG_SPOILERS.items():
                yield Variant(recording, f"{inside} {name}", partial(_rewrite, inside, change))


def run_variant(variant: Variant, diagnose: Diagnose) -> VariantResult:
    """Diagnoses a spoiled copy. An error in words is an answer too; only a wrong cause counts against it."""
    answer = read_answer(variant.recording)
    accepted = {*answer.causes, *answer.also_accepted}
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / variant.recording.name
        shutil.copytree(variant.recording, copy, copy_function=os.link)
        variant.spoil(copy)
        try:
            document: Document = diagnose(copy)
        except PpagentError as error:
            return VariantResult(variant.recording.name, variant.label, (), str(error))
    supported = {h["cause"] for h in document["hypotheses"] if h["state"] == "supported"}
    wrong = tuple(sorted(supported - accepted))
    return VariantResult(variant.recording.name, variant.label, wrong, document["verdict"])


def _remove(inside: Path, copy: Path) -> None:
    path = copy / inside
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _rewrite(inside: Path, change: Callable[[list[str]], list[str]], copy: Path) -> None:
    path = copy / inside
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    path.unlink()  # the copy is a hard link: the original must not be written through it
    path.write_text("".join(change(lines)), encoding="utf-8")


def _first_half(lines: list[str]) -> list[str]:
    return lines[: len(lines) // 2]


def _second_half(lines: list[str]) -> list[str]:
    return lines[len(lines) // 2 :]


def _shuffled(lines: list[str]) -> list[str]:
    mixed = list(lines)
    random.Random(len(lines)).shuffle(mixed)
    return mixed


def _thinned(lines: list[str]) -> list[str]:
    return [line for n, line in enumerate(lines) if n % 3]


def _cut_in_a_line(lines: list[str]) -> list[str]:
    text = "".join(lines)
    return [text[: len(text) * 2 // 3]]


LOG_SPOILERS: dict[str, Callable[[list[str]], list[str]]] = {
    "first half": _first_half,
    "second half": _second_half,
    "shuffled": _shuffled,
    "every third line lost": _thinned,
    "cut in the middle of a line": _cut_in_a_line,
}


def summary(results: Sequence[VariantResult]) -> str:
    """How often a spoiled recording led to a wrong cause, and where."""
    wrong = [result for result in results if result.wrong_causes]
    share = len(wrong) / len(results) if results else 0.0
    lines = [f"{len(results)} spoiled recordings, a wrong cause in {len(wrong)} ({share:.1%})"]
    lines += [f"  {r.id}, {r.label}: {', '.join(r.wrong_causes)}" for r in wrong]
    return "\n".join(lines)
