"""The result of a trial, in a few lines and as a fact."""

from collections.abc import Mapping
from typing import Any

from ppagent.evidence.evidence import FactValue
from ppagent.report.lines import Line, wrapped


def comparison_of(result: Mapping[str, Any]) -> FactValue:
    """The measured comparison as causes read it."""
    change = result.get("change") if isinstance(result.get("change"), dict) else {}
    known: dict[str, FactValue] = {"set": {str(k): str(v) for k, v in dict(change or {}).get("set", {}).items()}}
    for name in ("before", "after", "noise_share"):
        value = result.get(name)
        known[name] = float(value) if isinstance(value, int | float) else None
    return known


def trial_lines(result: Mapping[str, Any], evidence: str, width: int) -> list[Line]:
    """Verdict, figures of each phase, and whether everything is as it was."""
    unit = str(result.get("unit", "tok/s"))
    phases = [phase for phase in result.get("phases") or () if isinstance(phase, dict)]
    figures = "  ".join(f"{phase.get('label')} {_number(phase.get('tokens_per_s'))}" for phase in phases)
    head = f"{str(result.get('outcome', '')).upper()}  {result.get('why', '')} [{evidence}]"
    lines = wrapped(head, width, tone="verdict")
    figures = figures or f"{_number(result.get('before'))} to {_number(result.get('after'))}"
    gain, noise = _share(result.get("gain_share")), _share(result.get("noise_share")).lstrip("+")
    lines += wrapped(f"{figures} {unit}, {gain} (noise {noise})", width, "  ")
    restored = "put back" if result.get("restored") else "NOT put back: ppagent try TARGET --restore"
    lines += wrapped(f"answers: {result.get('outputs', 'not compared')}; the old value is {restored}", width, "  ")
    for remark in result.get("remarks") or ():
        lines += wrapped(str(remark), width, "  ! ")
    return lines


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else "?"


def _share(value: object) -> str:
    return f"{value:+.1%}" if isinstance(value, int | float) else "?"
