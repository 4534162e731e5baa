"""SGLang's profiler by version: what `/start_profile` takes, how it names its traces, what it marks in them.

Read in `srt/managers/io_struct.py`, `scheduler_profiler_mixin.py`, `scheduler_components/profiler_manager.py`,
`scheduler_pp_mixin.py` and `model_executor/model_runner.py` of 0.4.7 to 0.5.23.
"""

import re
from dataclasses import dataclass

from packaging.version import Version

from ppagent.evidence.digits import whole_number

NAMES_STAGES_FROM = Version("0.5.3.post2")
"""Before, a trace is named after its TP rank alone, so that the stages of a host write to one file."""
SECOND_START_SAFE_FROM = Version("0.5.14")
"""Before, the scheduler does not survive a profiler that cannot be started, as where one is running already."""

RUN = "run_batch"
SCHEDULING = ("get_next_batch_to_run", "process_batch_result")
"""What the scheduler works on between two batches."""
RETURN = ("recv_res_dict_from_prev_stage", "send_recv_res_dict")
"""Where it waits for tokens on their way round the ring."""
MARKS = (
    RUN,
    *SCHEDULING,
    *RETURN,
    "recv_requests",
    "send_reqs_to_next_stage",
    "send_proxy_dict_to_next_stage",
    "send_res_dict_to_next_stage",
)
"""What the pipeline's loop marks of itself, from 0.5.7 on; the scheduler's own methods are marked from 0.5.14 on."""

OF_THE_SCHEDULER = "scheduler."
SCHEDULER_MARKS = frozenset(
    OF_THE_SCHEDULER + name for name in (RUN, *SCHEDULING, "recv_requests", "process_input_requests")
)

_STEP = re.compile(r"step\[([A-Z_0-9]{1,40}) bs=(\d{1,7})\b")
"""A forward with its mode and batch, as marked from 0.5.11 on."""
_NAME = re.compile(
    r"(?:(?P<prefix>.+)-)?(?P<id>\d{1,12}(?:\.\d{1,9})?)-TP-(?P<tp>\d{1,5})(?:-DP-(?P<dp>\d{1,5}))?"
    r"(?:-PP-(?P<pp>\d{1,5}))?(?:-EP-(?P<ep>\d{1,5}))?(?:-(?P<phase>[A-Za-z_.]{1,40}))?\.trace\.json\.gz"
)


@dataclass(frozen=True)
class TraceName:
    """What the name of a trace tells."""

    profile: float
    """Unix time of the start: one and the same for every rank."""
    tp: int
    dp: int | None = None
    pp: int | None = None
    """None where the name holds no stage: one stage only, or a version that leaves it out."""
    phase: str = ""
    """EXTEND or DECODE where the profile was taken by phase."""


@dataclass(frozen=True)
class Step:
    """One forward, as its mark names it."""

    mode: str
    batch: int

    @property
    def decodes(self) -> bool:
        """Whether it makes tokens for requests that run (verifying drafts included)."""
        return self.mode in ("DECODE", "TARGET_VERIFY")


def profile_body(output_dir: str, steps: int) -> dict[str, object]:
    """The body of a POST to `/start_profile`: these five fields are known to every version from 0.4.7 on.

    Stacks and shapes are on unless they are refused, and slow the host down.
    """
    return {
        "output_dir": output_dir,
        "num_steps": steps,
        "activities": ["CPU", "GPU"],
        "with_stack": False,
        "record_shapes": False,
    }


def parse_trace_name(name: str) -> TraceName | None:
    """What a file's name tells; None for one that no rank wrote, merged traces among them, which hold stage 0 only."""
    match = _NAME.fullmatch(name)
    if match is None or (match["prefix"] or "").startswith(("merged", "rpd")):
        return None
    ranks = {key: None if match[key] is None else whole_number(match[key]) for key in ("tp", "dp", "pp")}
    return TraceName(float(match["id"]), ranks["tp"] or 0, ranks["dp"], ranks["pp"], match["phase"] or "")


def parse_step(mark: str) -> Step | None:
    """The forward that a mark names; None for any other mark."""
    match = _STEP.match(mark)
    return None if match is None else Step(match[1], int(match[2]))


def names_stages(version: Version | None) -> bool | None:
    """Whether traces are named after their pipeline stage; None where the version is unknown."""
    return None if version is None else Version(version.public) >= NAMES_STAGES_FROM


def survives_second_start(version: Version | None) -> bool:
    """Whether starting a profiler beside a running one is known to leave the scheduler alive."""
    return version is not None and Version(version.public) >= SECOND_START_SAFE_FROM
