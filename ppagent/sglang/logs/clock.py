"""The time of batch lines, read cheaply: seconds since 1970 in the server's local time."""

from datetime import datetime, timedelta

_EPOCH = datetime(1970, 1, 1)


class Clock:
    """Moves forward with the stamps of a DP rank's batch lines. `quiet_s` is the longest silence since the last decode
    line, which sets it back."""

    __slots__ = ("_minute", "_minute_s", "now_s", "quiet_s", "stamp")

    def __init__(self) -> None:
        self.now_s: float | None = None
        self.quiet_s = 0.0
        self.stamp = b""
        self._minute = b""
        self._minute_s = 0.0

    def tick(self, stamp: bytes) -> None:
        """Move to `stamp` (`YYYY-MM-DD HH:MM:SS`); one that is no time, or goes back, changes nothing."""
        self.stamp = stamp
        minute = stamp[:16]
        if minute != self._minute:
            minute_s = seconds_of(minute)
            if minute_s is None:
                return
            self._minute, self._minute_s = minute, minute_s
        try:
            now_s = self._minute_s + int(stamp[17:19])
        except ValueError:
            return
        if self.now_s is None:
            self.now_s = now_s
        elif now_s > self.now_s:
            if now_s - self.now_s > self.quiet_s:
                self.quiet_s = now_s - self.now_s
            self.now_s = now_s


def time_of(stamp: bytes) -> datetime | None:
    """The time that `YYYY-MM-DD HH:MM:SS` or its beginning gives; None where it is no time, or one of a named zone: the
    log has none, so that comes of two lines written into one another."""
    try:
        at = datetime.fromisoformat(stamp.decode("ascii"))
    except ValueError:
        return None
    return at if at.tzinfo is None else None


def seconds_of(stamp: bytes) -> float | None:
    """The same in seconds since 1970, of the server's local time as if it were UTC."""
    at = time_of(stamp)
    return None if at is None else (at - _EPOCH).total_seconds()


def moment(seconds: float) -> datetime:
    """A clock's seconds as a time."""
    return _EPOCH + timedelta(seconds=seconds)
