"""A scheduler's batch lines, written on every rank that prints them."""

from dataclasses import dataclass, replace

from ppagent_evals.writing.lines import Decode, Prefill, decode_line, prefill_line
from ppagent_evals.writing.load import Load
from ppagent_evals.writing.log import Log
from ppagent_evals.writing.server import Rank
from ppagent_evals.writing.versions import since


@dataclass
class Printer:
    """Prints for one data-parallel rank. `quiet` keeps the accounts and prints nothing."""

    log: Log
    ranks: list[Rank]
    capacity: int
    since_line: tuple[float, float]
    """When the last decode line was printed, and how many tokens had been generated."""
    last_prefill: tuple[float, int]
    quiet: bool = False

    def speed(self, now: float, generated: float) -> float:
        """Tokens a second since the last decode line."""
        then, made = self.since_line
        self.since_line = (now, generated)
        return (generated - made) / max(now - then, 1e-6)

    def decode(self, load: Load, batch: Decode, now: float) -> None:
        if self.quiet:
            return
        accept = batch.accept
        if accept is not None:
            wander = 1 + self.log.rng.uniform(-0.03, 0.03)
            accept = (max(accept[0] * wander, 1.0), accept[1] * wander)
        for rank in self.ranks:
            speed = batch.tokens_per_s * (1 + (self.log.rng.uniform(-0.002, 0.002) if rank.pp else 0))
            shown = replace(batch, tokens_per_s=speed, accept=accept, occupancy=self._occupancy(load, rank.pp))
            self.log.line(decode_line(self.log.server.version, shown), rank, now)

    def prefill(self, load: Load, batch: Prefill, begun: float, ended: float) -> None:
        """Up to 0.5.8 the line comes when the batch is formed, later when its result is there."""
        at = ended if since(self.log.server.version, "0.5.9") else begun
        then, tokens = self.last_prefill
        speed = tokens / max(at - then, 1e-3)
        self.last_prefill = (at, batch.new_token)
        for rank in [] if self.quiet else self.ranks:
            shown = replace(batch, input_tokens_per_s=speed, occupancy=self._occupancy(load, rank.pp))
            self.log.line(prefill_line(self.log.server.version, shown), rank, at)

    def retraction(self, now: float, requests: int, freed: int, ratios: tuple[float, float]) -> None:
        gained = f", #new_tokens_gained: {freed}" if since(self.log.server.version, "0.5.7") else ""
        text = (
            f"KV cache pool is full. Retract requests. #retracted_reqs: {requests}{gained}, "
            f"#new_token_ratio: {ratios[0]:.4f} -> {ratios[1]:.4f}"
        )
        for rank in [] if self.quiet else self.ranks:
            self.log.line(text, rank, now)

    def answered(self, now: float, port: int) -> None:
        """The HTTP server's line for a finished request."""
        if not self.quiet:
            self.log.line(f'INFO:     10.0.0.12:{port} - "POST /v1/chat/completions HTTP/1.1" 200 OK', at=now)

    def usage(self, used: int, running: int, *, decode: bool) -> str:
        """The fields of the pools: one pool, or the two of a hybrid with linear attention."""
        share = f"token usage: {used / self.capacity:.2f}, "
        slots = self.log.server.mamba_slots
        if not slots:
            return f"#token: {used}, {share}" if decode else share
        states = f"mamba usage: {running / slots:.2f}, "
        return f"#full token: {used}, full {share}mamba num: {running}, {states}" if decode else f"full {share}{states}"

    def _occupancy(self, load: Load, stage: int) -> float | None:
        if not load.occupancy or self.log.server.env.get("SGLANG_ENABLE_METRICS_DEVICE_TIMER") != "1":
            return None
        return min(load.occupancy[stage] + self.log.rng.uniform(-0.8, 0.8), 100.0)
