"""The row that bench_serving wrote, with what its own figures hide."""

import json
from collections.abc import Mapping, Sequence

from ppagent.bench.statistics import percentile
from ppagent.errors import ToolError
from ppagent.evidence.kept import is_measure

TTFT_FORMULA = "t_first_text - t_sent"
"""What comes before any text, such as half a character, is no first token to it (0.4.7 to 0.5.23)."""
_DETAILS = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "cached_tokens_details")
_SECRET = "server_info"
"""The server's arguments with its keys in clear."""


def row_of(text: str, route: str) -> dict[str, object]:
    """The last row of its file, with the way it was measured and without what belongs to single requests. Raises
    ToolError where there is none."""
    try:
        row = json.loads(text.strip().splitlines()[-1])
    except (IndexError, ValueError) as error:
        raise ToolError("bench_serving wrote no row") from error
    if not isinstance(row, dict):
        raise ToolError("bench_serving wrote no object")
    kept = {name: value for name, value in row.items() if name not in (*_DETAILS, _SECRET)}
    own = {"tool": "bench_serving", "streamed": True, "route": route, "ttft_formula": TTFT_FORMULA}
    return {**kept, **own, **_single(row)}


def _single(row: Mapping[str, object]) -> dict[str, object]:
    """What the details of its requests say: which failed, and whose first token it missed for having no text.

    Every token after the first one with text has a gap of its own, so gaps that are missing were tokens without text.
    """
    errors, lengths = _list(row, "errors"), _list(row, "output_lens")
    itls, ttfts = _list(row, "itls"), _list(row, "ttfts")
    if not len(errors) == len(lengths) == len(itls) == len(ttfts) or not lengths:
        return {}
    done = [n for n, error in enumerate(errors) if not error]
    prompt = [n for n in done if _gaps(itls[n]) >= _whole(lengths[n]) - 1]
    found: dict[str, object] = {"failed": len(errors) - len(done)}
    times = [1000 * t for n in prompt if isinstance(t := ttfts[n], int | float) and is_measure(t)]
    told = ""
    if times:
        found["median_ttft_with_text_ms"] = round(percentile(times, 50), 3)
        told = f" ({percentile(times, 50):.0f} ms, median, for the others)"
    if len(prompt) < len(done):
        found["warnings"] = [
            f"the first token of {len(done) - len(prompt)} of {len(done)} requests had no text of its own: "
            f"bench_serving counts their TTFT from a later one{told}"
        ]
    return found


def _list(row: Mapping[str, object], name: str) -> Sequence[object]:
    value = row.get(name)
    return value if isinstance(value, list) else []


def _gaps(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
