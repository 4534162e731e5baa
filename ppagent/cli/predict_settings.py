"""The settings that `ppagent predict --set` takes, and the numbers of a ring."""

from collections.abc import Sequence
from dataclasses import replace

from ppagent.errors import UserError
from ppagent.evidence.digits import whole_number
from ppagent.model.whatif import Settings

SETTABLE = (
    "pp_max_micro_batch_size, pp_async_batch_depth, disable_cuda_graph (true or false) and SGLANG_PP_LAYER_PARTITION"
)


def changed(assignments: Sequence[str], now: Settings, stages: int) -> Settings:
    """`now` with every FLAG=VALUE taken over. Raises UserError for what the model does not know or cannot be."""
    then = now
    for assignment in assignments:
        flag, equals, value = assignment.partition("=")
        if not equals:
            raise UserError(f"--set {assignment} has no value.", "Write --set FLAG=VALUE.")
        then = _with(then, flag, value)
    if then.split is not None and len(then.split) != stages:
        raise UserError(f"A partition needs {stages} numbers, one a stage.", "Give one number a stage.")
    return then


def _with(settings: Settings, flag: str, value: str) -> Settings:
    match flag.lstrip("-").replace("-", "_").lower():
        case "pp_max_micro_batch_size" | "max_micro_batch_size":
            return replace(settings, slot_limit=_whole(value, flag, 1))
        case "pp_async_batch_depth":
            return replace(settings, async_depth=_whole(value, flag, 0))
        case "disable_cuda_graph" | "disable_decode_cuda_graph":
            return replace(settings, graph=not _truth(value, flag))
        case "sglang_pp_layer_partition":
            return replace(settings, split=tuple(_whole(part, flag, 1) for part in value.split(",")))
        case "tp_size" | "tensor_parallel_size" | "tp" | "pp_size" | "pipeline_parallel_size" | "pp":
            advice = (
                "Ask without it: the answer has a table of the TPxPP shapes of these cards, where they can be priced."
            )
            raise UserError(f"{flag} makes another shape of the cards, not a setting of this pipeline.", advice)
        case _:
            raise UserError(f"The pipeline model says nothing about {flag}.", f"It knows {SETTABLE}.")


def times_ms(text: str, stages: int, flag: str) -> tuple[float, ...]:
    """One time a stage, out of one for all or a list."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise UserError(f"{flag} takes milliseconds, not {text!r}.", "Write one number, or one a stage.") from error
    if len(values) not in (1, stages) or not all(0 <= value < float("inf") for value in values):
        raise UserError(f"{flag} takes one value or {stages}, none below 0.", "Write one number, or one a stage.")
    return values * stages if len(values) == 1 else values


def _whole(text: str, flag: str, least: int) -> int:
    value = whole_number(text)
    if value is None or value < least:
        raise UserError(f"{flag} takes a whole number of {least} or more, not {text!r}.", "Correct the value.")
    return value


def _truth(text: str, flag: str) -> bool:
    match text.lower():
        case "true" | "1" | "yes":
            return True
        case "false" | "0" | "no":
            return False
    raise UserError(f"{flag} takes true or false, not {text!r}.", "Correct the value.")
