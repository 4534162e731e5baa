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
        try:
            if minute != self._minute:
                at = datetime.fromisoformat(minute.decode("ascii"))
                self._minute, self._minute_s = minute, (at - _EPOCH).total_seconds()
            now_s = self._minute_s + int(stamp[17:19])
        except ValueError:
            return
        if self.now_s is None:
            self.now_s = now_s
        elif now_s > self.now_s:
            if now_s - self.now_s > self.quiet_s:
                self.quiet_s = now_s - self.now_s
            self.now_s = now_s


def moment(seconds: float) -> datetime:
    """A clock's seconds as a time."""
    return _EPOCH + timedelta(seconds=seconds)
