"""The tool's own record: what it forecast, and what was then measured. It shows its error beside the next forecast.

Lines of JSON in the user's data folder, appended whole, so that two runs at a time lose nothing. A line that cannot be
read is counted and left alone.
"""

import fcntl
import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ppagent.errors import ToolError

FILE = "forecasts.jsonl"
Outcome = Literal["better", "worse", "no difference", "cannot tell"]


def data_folder() -> Path:
    """ppagent's folder below XDG_DATA_HOME, else below ~/.local/share. A relative XDG_DATA_HOME counts as unset, as its
    specification has it."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".local" / "share") / "ppagent"


@dataclass(frozen=True)
class Forecasted:
    """A forecast at the time it was made, before anything was changed. Figures are in units of `metric`."""

    id: str
    at: str
    server: str
    version: str
    change: Mapping[str, str]
    metric: str
    concurrency: float
    baseline: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    """What became of a forecast: the figures before and after, and the share that noise explains."""

    id: str
    at: str
    before: float
    after: float
    noise_share: float
    outcome: Outcome


@dataclass(frozen=True)
class TrackRecord:
    """How forecasts fared so far. `mean_error` is the mean distance of the measured gain from the middle forecast, as a
    share; `inside` how many fell into their range."""

    count: int
    mean_error: float
    inside: int
    unread: int = 0

    @property
    def says(self) -> str:
        """One clause for a report; empty where nothing was ever measured."""
        if not self.count:
            return ""
        noun = "forecast" if self.count == 1 else "forecasts"
        lost = f", {self.unread} lines of its record unreadable" if self.unread else ""
        return f"{self.count} {noun} so far, error {self.mean_error:.0%}, {self.inside} inside the range{lost}"


def new_id() -> str:
    """An id for a forecast and what is measured of it."""
    return f"{datetime.now(UTC):%y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def now() -> str:
    """The time, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def record_forecast(entry: Forecasted, folder: Path | None = None) -> None:
    """Notes a forecast. Raises ToolError where the data folder cannot be written."""
    append({"kind": "forecast", **asdict(entry)}, folder)


def record_measured(entry: Measured, folder: Path | None = None) -> None:
    """Notes what was measured of a forecast. Raises ToolError where the data folder cannot be written."""
    append({"kind": "measured", **asdict(entry)}, folder)


def append(row: Mapping[str, object], folder: Path | None = None) -> None:
    """Appends one line, whole, and waits until it is on the disk."""
    path = (folder or data_folder()) / FILE
    line = (json.dumps(dict(row), ensure_ascii=False, allow_nan=False) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, line if _ends_whole(handle) else b"\n" + line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror or error}") from error


def _ends_whole(handle: int) -> bool:
    """Whether the file ends with a line's end; after a crash in the middle of a line it does not."""
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"


def track_record(folder: Path | None = None) -> TrackRecord:
    """How forecasts fared so far. Raises ToolError where the record is there and cannot be read."""
    path = (folder or data_folder()) / FILE
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror or error}") from error
    rows = [_row(line) for line in lines if line.strip()]
    forecasts = {str(row.get("id")): row for row in rows if row.get("kind") == "forecast"}
    measured = {str(row.get("id")): row for row in rows if row.get("kind") == "measured"}
    pairs = ((forecasts[key], row) for key, row in measured.items() if key in forecasts)
    scores = [score for forecast, row in pairs if (score := _score(forecast, row)) is not None]
    errors = [error for error, _ in scores]
    mean = math.fsum(errors) / len(errors) if errors else 0.0
    return TrackRecord(len(scores), mean, sum(inside for _, inside in scores), sum(1 for row in rows if not row))


def _row(line: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _score(forecast: Mapping[str, object], measured: Mapping[str, object]) -> tuple[float, bool] | None:
    """(error, whether inside) of one pair, by gains: the baseline may have moved since. A measurement that could tell
    nothing scores nothing."""
    if measured.get("outcome") == "cannot tell":
        return None
    expected, found = _numbers(forecast, ("baseline", "low", "high")), _numbers(measured, ("before", "after"))
    if expected is None or found is None:
        return None
    (baseline, low, high), (before, after) = expected, found
    gain = after / before
    middle = math.sqrt(low * high) / baseline
    return abs(gain / middle - 1), low / baseline <= gain <= high / baseline


def _numbers(row: Mapping[str, object], names: Iterable[str]) -> list[float] | None:
    found = [row.get(name) for name in names]
    numbers = [float(value) for value in found if isinstance(value, int | float) and value > 0]
    return numbers if len(numbers) == len(found) else None
