"""What a lab case is made of: the emulated device, the load, the planted fault and the known answer."""

from dataclasses import dataclass, field
from typing import Literal

Arrival = Literal["trickle", "burst"]
Trouble = Literal["", "hang", "refused"]


@dataclass(frozen=True)
class Device:
    """Times of the emulated stages in ms; a tuple has one value a stage, its last one serves the rest."""

    stage_ms: tuple[float, ...] = (40.0,)
    per_request_ms: tuple[float, ...] = (4.0,)
    per_token_ms: tuple[float, ...] = (0.05,)
    launch_ms: tuple[float, ...] = (0.0,)
    replay_ms: tuple[float, ...] | None = None
    """The host's time for a decode step replayed as a CUDA graph; None: no graphs are emulated."""
    hop_ms: float = 0.05
    return_ms: float | None = None
    tokenize_ms: float | None = None

    def environment(self) -> dict[str, str]:
        """The variables that the device reads (evals/lab/device)."""
        lists = {
            "LAB_STAGE_MS": self.stage_ms,
            "LAB_STAGE_MS_PER_REQ": self.per_request_ms,
            "LAB_STAGE_MS_PER_TOK": self.per_token_ms,
            "LAB_LAUNCH_MS": self.launch_ms,
            "LAB_REPLAY_MS": self.replay_ms,
        }
        single = {
            "LAB_HOP_MS": self.hop_ms,
            "LAB_RETURN_MS": self.return_ms,
            "LAB_TOKENIZE_MS": self.tokenize_ms,
        }
        return {name: ",".join(f"{v:g}" for v in values) for name, values in lists.items() if values} | {
            name: f"{value:g}" for name, value in single.items() if value is not None
        }


@dataclass(frozen=True)
class Load:
    """Clients in a closed loop: each sends, waits for its last token, thinks, and sends again."""

    clients: int
    input_tokens: tuple[int, int] = (48, 80)
    output_tokens: tuple[int, int] = (24, 56)
    arrival: Arrival = "trickle"
    """trickle: each client by itself, started one after the other; burst: all wait for the last, then go together."""
    think_s: float = 0.2
    long_every: int = 0
    """Every n-th request has `long_tokens` of prompt; 0: none."""
    long_tokens: int = 2000
    long_output: int = 8
    as_text: bool = False
    """Sends words, so that the server has to tokenize; otherwise token ids, whose number is exact."""
    shared_prefix: int = 0


@dataclass(frozen=True)
class Alternative:
    """Another setting, measured under the same load: the recorded response surface."""

    set: dict[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    live: bool = False
    device: Device | None = None
    """Where the change moves work between stages (a layer split), the times that follow from it."""


@dataclass(frozen=True)
class Answer:
    """`answer.yaml`; a cause named in neither list may be named or not."""

    verdict: Literal["diagnosed", "healthy", "not_enough_evidence"]
    note: str
    causes: tuple[str, ...] = ()
    also_accepted: tuple[str, ...] = ()
    must_not_support: tuple[str, ...] = ()
    ruled_out: tuple[str, ...] = ()
    fixes: tuple[Alternative, ...] = ()
    forbidden_changes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ("server.log",)


@dataclass(frozen=True)
class Case:
    """One incident that the lab can make."""

    name: str
    title: str
    question: str
    pp: int
    load: Load | None
    answer: Answer
    version: str = "0.5.23"
    device: Device = Device()
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    layers: int = 8
    stated: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    alone: bool = False
    """Measures one client by itself first: its turn is the sum of the stages, which only cards would tell otherwise."""
    trouble: Trouble = ""
    warm_s: float = 15.0
    measure_s: float = 40.0
    tags: tuple[str, ...] = ("pp",)
