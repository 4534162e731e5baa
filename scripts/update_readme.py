"""Writes the README's excerpt, score table and first-sight count from a run: `python scripts/update_readme.py`."""

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FIRST_SIGHT = ROOT / "evals" / "first_sight.json"
SEED = "evals/incidents/kimi-k26-pp8"
LEFT_OUT = "  ..."


def ppagent(*words: str) -> str:
    """What the command prints, plain and 80 columns wide."""
    done = subprocess.run(
        [sys.executable, "-m", "ppagent", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def excerpt(report: str) -> str:
    """The head of the report, its first step and what was declined: enough to see what one gets."""
    lines = report.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("  why CG001"))
    step = next(n for n, line in enumerate(lines) if line.startswith("  TRY NOW"))
    then = next(n for n, line in enumerate(lines) if line.startswith("  THEN"))
    declined = next(n for n, line in enumerate(lines) if line.startswith("  NOT THE CURE"))
    ruled = next(n for n, line in enumerate(lines) if line.startswith("  RULED OUT"))
    kept = [*lines[:first], LEFT_OUT, *lines[step:then], LEFT_OUT, *lines[declined : ruled + 3], LEFT_OUT]
    return "\n".join(kept)


def first_sight(text: str) -> str:
    """How many incidents passed that were written without sight of the rules, when they were first run; and of those
    that were chosen because the rules failed on their like."""
    kept = json.loads(text)["batches"]
    batches = [batch for batch in kept if "chosen" not in batch]
    each = "; then ".join(f"{batch['passed']} of {batch['written']}" for batch in batches)
    lowest = min(batch["passed"] / batch["written"] for batch in batches)
    written = sum(batch["written"] for batch in batches)
    text = (
        f"{written} of these incidents were written without sight of the rules. When they were first run, {each} "
        "passed, and the rules were mended in kind. The later ones come from the same writer of logs, so expect "
        f"something nearer to the lowest share ({lowest:.2f}) on an incident that nobody has recorded yet, and send it "
        "in."
    )
    for batch in kept:
        if "chosen" in batch:
            more = f"{batch['written']} more {'is' if batch['written'] == 1 else 'are'}"
            text += f" {more} {batch['chosen']}: {batch['passed']} passed."
    return fill(text, 118) + "\n"


def put(text: str, mark: str, body: str) -> str:
    """`text` with what follows `<!-- mark -->`, up to `<!-- end -->`, replaced."""
    pattern = rf"(<!-- {mark} -->\n).*?(<!-- end -->)"
    if not re.search(pattern, text, flags=re.DOTALL):
        raise SystemExit(f"README.md has no part {mark}")
    return re.sub(pattern, lambda m: m[1] + body + m[2], text, count=1, flags=re.DOTALL)


def main() -> None:
    text = README.read_text(encoding="utf-8")
    text = put(text, "excerpt", f"```\n{excerpt(ppagent('diagnose', SEED))}\n```\n")
    text = put(text, "first-sight", first_sight(FIRST_SIGHT.read_text(encoding="utf-8")))
    text = put(text, "eval-table", ppagent("eval", "--baselines", "--format", "markdown"))
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
