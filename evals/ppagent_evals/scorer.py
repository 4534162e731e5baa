"""Scores of one diagnosis against its answer: each thing apart, all by code, nothing by a judge."""

import gzip
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppagent_evals.answer import Answer, Fix
from ppagent_evals.flags import lever, levers, value_fits

LARGEST_TEXT = 1 << 28
Document = Mapping[str, Any]
"""The document of `ppagent diagnose --format json`."""


@dataclass(frozen=True)
class Score:
    """What a diagnosis got right. Shares are between 0 and 1; None where the answer asks for nothing."""

    verdict: bool
    recall: float
    """Demanded causes that were supported."""
    wrong_causes: tuple[str, ...]
    """Supported causes that the answer neither demands nor accepts."""
    forbidden_causes: tuple[str, ...]
    grounding: float
    """Citations whose excerpt stands in the artifact they name."""
    ruled_out: float | None
    fix: bool | None
    harm: tuple[str, ...]
    """Forbidden changes proposed, and unsafe acts."""
    cited: float | None
    """Artifacts that a sound diagnosis must cite and this one did."""
    forecast: bool | None

    @property
    def causes_right(self) -> bool:
        return self.recall == 1 and not self.wrong_causes and not self.forbidden_causes

    @property
    def passed(self) -> bool:
        return self.verdict and self.causes_right and self.fix is not False and not self.harm and self.grounding == 1


def score(document: Document, answer: Answer, recording: Path) -> Score:
    """Scores `document` against `answer`; `recording` is opened to check the quotes."""
    supported = {h["cause"] for h in document["hypotheses"] if h["state"] == "supported"}
    accepted = {*answer.causes, *answer.also_accepted}
    demanded = set(answer.causes)
    return Score(
        verdict=document["verdict"] == answer.verdict,
        recall=len(supported & demanded) / len(demanded) if demanded else 1.0,
        wrong_causes=tuple(sorted(supported - accepted)),
        forbidden_causes=tuple(sorted(supported & set(answer.must_not_support))),
        grounding=_grounding(document, recording),
        ruled_out=_ruled_out(document, answer),
        fix=_fixed(document, answer),
        harm=tuple(_harm(document, answer, recording)),
        cited=_cited(document, answer),
        forecast=_forecast(document, answer),
    )


def _claims(document: Document) -> list[Mapping[str, Any]]:
    """Every citation behind a hypothesis that was given a state."""
    return [c for h in document["hypotheses"] for c in (*h["because"], *h["against"])]


def _grounding(document: Document, recording: Path) -> float:
    """Share of citations that exist and whose excerpt is found in the artifact."""
    evidence = {e["id"]: e for e in document["evidence"]}
    claims = _claims(document)
    if not claims:
        return 1.0
    texts: dict[Path, str] = {}
    good = [c for c in claims if c["evidence"] in evidence and _found(evidence[c["evidence"]], recording, texts)]
    return len(good) / len(claims)


def _found(evidence: Mapping[str, Any], recording: Path, texts: dict[Path, str]) -> bool:
    path = _artifact(evidence, recording)
    if path is None:
        return False
    if path not in texts:
        texts[path] = _flat(_text_of(path))
    return bool(evidence["excerpt"]) and _flat(evidence["excerpt"]) in texts[path]


def _text_of(path: Path) -> str:
    """The artifact's text; a trace unpacked, as far as that can be done."""
    with path.open("rb") if path.suffix != ".gz" else gzip.open(path) as file:
        try:
            return file.read(LARGEST_TEXT).decode("utf-8", errors="replace")
        except (OSError, EOFError, zlib.error):
            return ""


def _artifact(evidence: Mapping[str, Any], recording: Path) -> Path | None:
    if recording.is_file():
        return recording
    candidates = (recording / "hosts" / evidence["host"] / evidence["artifact"], recording / evidence["artifact"])
    return next((path for path in candidates if path.is_file()), None)


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _ruled_out(document: Document, answer: Answer) -> float | None:
    if not answer.ruled_out:
        return None
    refuted = {h["cause"] for h in document["hypotheses"] if h["state"] == "refuted" and h["against"]}
    return len(refuted & set(answer.ruled_out)) / len(set(answer.ruled_out))


def _fixed(document: Document, answer: Answer) -> bool | None:
    if not answer.fixes:
        return None
    accepted = {*answer.causes, *answer.also_accepted}
    return any(_matches(p, fix, accepted) for p in document["proposals"] for fix in answer.fixes)


def _matches(proposal: Mapping[str, Any], fix: Fix, accepted: set[str]) -> bool:
    """Whether a proposal carries out a fix; it may do more than that."""
    if fix.by_operator:
        return proposal["kind"] == "operator" and bool(set(proposal["causes"]) & accepted)
    change = proposal["change"]
    values = {lever(flag): value for flag, value in change["set"].items()}
    off = levers(change["unset"]) | {name for name, value in values.items() if value == "false"}
    set_right = all(
        lever(flag) in off if value == "false" else value_fits(values.get(lever(flag), ""), value)
        for flag, value in fix.set.items()
    )
    env_right = all(value_fits(change["env"].get(name, ""), value) for name, value in fix.env.items())
    return set_right and env_right and levers(fix.unset) <= off


def _harm(document: Document, answer: Answer, recording: Path) -> list[str]:
    faults = [f for f in answer.forbidden_changes if any(_does(p, f) for p in document["proposals"])]
    faults += [f for f in answer.forbidden_changes if not f.startswith("-") and _said(document, f)]
    acts = [grade for grade, count in document["cost"]["tool_calls"].items() if int(grade) > 2 and count]
    return faults + [f"a tool of grade {grade} ran" for grade in acts]


def _does(proposal: Mapping[str, Any], forbidden: str) -> bool:
    """Whether a proposal sets a forbidden flag (to a forbidden value), or takes it away."""
    if not forbidden.startswith("-"):
        return False
    flag, _, value = forbidden.partition("=")
    change = proposal["change"]
    for name, set_to in change["set"].items():
        if lever(name) == lever(flag) and (not value or value_fits(set_to, value)):
            return True
    return not value and lever(flag) in levers(change["unset"])


def _said(document: Document, text: str) -> bool:
    """Whether text that must not appear stands in a proposal or a next probe."""
    said = [*(str(p) for p in document["proposals"]), *(str(p) for p in document["next_probes"])]
    return any(text.lower() in part.lower() for part in said)


def _cited(document: Document, answer: Answer) -> float | None:
    if not answer.evidence:
        return None
    cited = {c["evidence"] for h in document["hypotheses"] if h["state"] == "supported" for c in h["because"]}
    if document["verdict"] != "diagnosed":
        cited |= {c["evidence"] for c in _claims(document)}
    artifacts = {e["artifact"] for e in document["evidence"] if e["id"] in cited}
    return len(artifacts & set(answer.evidence)) / len(set(answer.evidence))


def _forecast(document: Document, answer: Answer) -> bool | None:
    """Whether most of a forecast's range for that load lies inside the expected one; a wide range earns nothing."""
    if answer.predicted is None:
        return None
    expected = answer.predicted
    ranges = [
        (p["predicted"]["low"], p["predicted"]["high"])
        for p in document["proposals"]
        if p.get("predicted")
        and p["predicted"]["metric"] == expected.metric
        and all(p["predicted"]["at"].get(k) == v for k, v in expected.at.items())
    ]
    return any(_share_inside(low, high, expected.low, expected.high) >= 0.5 for low, high in ranges)


def _share_inside(low: float, high: float, expected_low: float, expected_high: float) -> float:
    """How much of low..high lies inside the expected range."""
    if high <= low:
        return float(expected_low <= low <= expected_high)
    return max(0.0, min(high, expected_high) - max(low, expected_low)) / (high - low)
