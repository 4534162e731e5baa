"""What was read in traces, as facts."""

from collections.abc import Callable, Sequence

from ppagent.evidence.evidence import FactValue, Finding
from ppagent.profile.choice import Chosen, File, Placed, Shape, place
from ppagent.profile.rank import RankSummary
from ppagent.profile.stages import Pipeline, Stage, pipeline_of
from ppagent.profile.steps import StepTally
from ppagent.sglang.profiling import RUN

Facts = dict[str, FactValue]
Read = Sequence[tuple[File, RankSummary]]

MOST_MODES = 16
FEWEST_FORWARDS = 4
"""With fewer a share of them says nothing."""


def finding_of(read: Read, chosen: Chosen, shape: Shape, *, authority: int, remarks: Sequence[str] = ()) -> Finding:
    """All traces of one profile as one finding, since stages only say something together. It stands in the trace that
    its excerpt is from."""
    placed = place(read, shape)
    pipeline = pipeline_of(placed.ranks)
    said = [*remarks, *chosen.remarks, *_remarks(placed, pipeline)]
    facts: Facts = {"profile.traces": [file.name for file, _ in read], "profile.kernels": pipeline.kernels}
    facts |= _stage_facts(pipeline) | _step_facts(pipeline.tally)
    if placed.overwritten:
        facts["profile.overwritten"] = True
    if placed.missing:
        facts["profile.missing"] = [f"PP{stage}" for stage in placed.missing]
    if pipeline.modes:
        facts["profile.modes"] = dict(sorted(pipeline.modes.items(), key=lambda mode: (-mode[1], mode[0]))[:MOST_MODES])
    if said:
        facts["profile.remarks"] = list(said)
    file, rank = next(((file, rank) for file, rank in read if rank.quote), read[0])
    return Finding(file.name, facts, rank.quote, file.host, authority=authority)


def _stage_facts(pipeline: Pipeline) -> Facts:
    host: dict[str, FactValue] = {
        f"PP{index}": {mark: _round(share) for mark, share in stage.host.items()}
        for index, stage in pipeline.stages.items()
        if stage.host
    }
    facts: Facts = {}
    tables: dict[str, Callable[[Stage], float | None]] = {"profile.step_ms": lambda s: s.step_ms}
    if any(stage.steps for stage in pipeline.stages.values()):
        tables["profile.steps"] = lambda s: s.steps
    if pipeline.kernels:
        tables |= _KERNEL_TABLES
        slowest = pipeline.at_slowest
        facts["profile.effective_stages"] = _round(pipeline.effective)
        facts["profile.stages_at_slowest"] = None if slowest is None else _round(slowest)
    for name, part in tables.items():
        row = {f"PP{index}": value for index, stage in pipeline.stages.items() if (value := part(stage)) is not None}
        if row:
            facts[name] = {key: _round(value) for key, value in row.items()}
    return facts | ({"profile.host": host} if host else {})


_KERNEL_TABLES: dict[str, Callable[[Stage], float | None]] = {
    "profile.busy": lambda s: s.busy,
    "profile.busy_ms": lambda s: s.busy_ms_per_step,
    "profile.collectives": lambda s: s.collectives,
    "profile.waiting": lambda s: s.waiting,
    "profile.gap_inside": lambda s: s.inside,
    "profile.gap_outside": lambda s: s.outside,
    "profile.gap_scheduling": lambda s: s.scheduling,
}


def _step_facts(tally: StepTally) -> Facts:
    if not tally.counted:
        return {}
    facts: Facts = {
        "profile.graph_steps": tally.graph,
        "profile.eager_steps": tally.eager,
        "profile.modes_told": tally.told,
    }
    if tally.counted >= FEWEST_FORWARDS:
        facts["profile.graph_step_share"] = _round(tally.graph / tally.counted)
    if tally.eager_launches is not None:
        facts["profile.launches_per_step"] = tally.eager_launches
    if tally.graph_batches:
        facts["profile.graph_batch_max"] = tally.graph_batches[-1]
    if tally.eager_batches:
        facts["profile.eager_batch_min"], facts["profile.eager_batch_max"] = tally.eager_batches
    return facts


def _remarks(placed: Placed, pipeline: Pipeline) -> list[str]:
    said = []
    if placed.overwritten:
        said.append(
            "the names of the traces leave the stage out, so that the stages of a host wrote over each other: "
            "what is left is one stage a host (0.5.3.post2 and later name the stage)"
        )
    elif placed.missing:
        said.append(f"no trace of stage {', '.join(map(str, placed.missing))}")
    if not pipeline.kernels:
        said.append("no GPU kernels in these traces: they show the host's side alone")
        if not pipeline.modes and not any(stage.host.get(RUN) for stage in pipeline.stages.values()):
            said.append("no forward ran while they were taken: the server had nothing to do")
    elif any(stage.inside is None for stage in pipeline.stages.values()):
        said.append(
            "no marks of the loop in these traces: gaps cannot be told apart (marked under PP from 0.5.7 on, else from "
            "0.5.14)"
        )
    if pipeline.kernels and not any(stage.steps for stage in pipeline.stages.values()):
        said.append("the window runs from the first kernel to the last one, not over whole steps")
    if not pipeline.together and len(placed.ranks) > 1:
        said.append("the traces share no time of whole steps, so that each stage is judged over a time of its own")
    if pipeline.tally.counted and not pipeline.tally.told:
        said.append("prefills cannot be told from decode steps in these traces (named from 0.5.11 on)")
    if pipeline.unread:
        said.append(f"{pipeline.unread} events without a time were left out")
    return said


def _round(value: float) -> float:
    return round(value, 4)
