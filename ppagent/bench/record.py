"""One request as the client saw it. Times are seconds of the client's monotonic clock."""

from array import array
from dataclasses import dataclass, field

from ppagent.bench.events import DONE, Final, error_text, is_error, read_final, tokens_so_far


@dataclass(slots=True)
class Request:
    """What was asked and when, and every arrival of tokens.

    `intended_at` is when it was due, `sent_at` when its bytes left: the difference is the client's own doing and is
    part of every latency, so that waiting inside the tool can never make a server look fast.
    """

    client: int
    asked_tokens: int
    intended_at: float
    sent_at: float = 0.0
    ended_at: float = 0.0
    error: str = ""
    cut: bool = False
    """Still running when the level's time was up: neither a success nor an error."""
    arrivals: "array[float]" = field(default_factory=lambda: array("d"))
    counts: "array[int]" = field(default_factory=lambda: array("l"))
    """Tokens so far at each arrival."""
    final: Final | None = None
    _last: bytes = b""

    def take(self, payload: bytes, now: float) -> None:
        """One event of the stream. It runs once a token of every stream, so it does no more than it must."""
        if payload == DONE:
            return
        tokens = tokens_so_far(payload)
        if tokens is None:
            self.error = self.error or (read_final(payload).error if is_error(payload) else "")
            return
        self._last = payload
        if not self.counts or tokens > self.counts[-1]:
            self.arrivals.append(now)
            self.counts.append(tokens)

    def close(self, now: float, status: int = 200, body: bytes = b"") -> None:
        """The response is over."""
        self.ended_at = now
        if status != 200:
            self.error = f"HTTP {status}: {error_text(body[:200].decode('utf-8', errors='replace'))}"
        elif self._last:
            self.final = read_final(self._last)
            self.error = self.error or self.final.error
        self._last = b""
        if not self.error and not self.counts:
            self.error = "the response holds no token"

    @property
    def ended(self) -> bool:
        return self.ended_at > 0

    @property
    def succeeded(self) -> bool:
        return self.ended and not self.error and not self.cut

    @property
    def tokens(self) -> int:
        """Tokens received."""
        return self.counts[-1] if self.counts else 0

    @property
    def ttft_s(self) -> float:
        """From when it was due to its first token."""
        return self.arrivals[0] - self.intended_at

    @property
    def latency_s(self) -> float:
        """From when it was due to its last token."""
        return self.arrivals[-1] - self.intended_at

    @property
    def client_wait_s(self) -> float:
        """How long it waited inside the client."""
        return self.sent_at - self.intended_at

    @property
    def tpot_s(self) -> float | None:
        """(last token - first token) / (tokens - 1), by tokens received; None for a single token."""
        return (self.arrivals[-1] - self.arrivals[0]) / (self.tokens - 1) if self.tokens > 1 else None

    def itls_s(self) -> list[float]:
        """Times between tokens. Tokens that came together share the time since those before them."""
        found: list[float] = []
        for n in range(1, len(self.arrivals)):
            new = self.counts[n] - self.counts[n - 1]
            found += [(self.arrivals[n] - self.arrivals[n - 1]) / new] * new
        return found
