"""The facts as they were read in the published versions 0.4.7 to 0.5.23, for when no source tree is at hand."""

from dataclasses import dataclass

from packaging.version import Version

from ppagent.sglang.scheduler_facts.era import since
from ppagent.sglang.scheduler_facts.facts import LIMIT_RULE, SchedulerFacts, SlotRule, SourceFact, SplitRule, T

_SCHEDULER = "srt/managers/scheduler.py"
_PP_LOOP = "srt/managers/scheduler_pp_mixin.py"
_INTERNAL_STATE = "srt/managers/scheduler_components/internal_state.py"
_THRESHOLDS = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")
_DSPARK = ("dspark_force_budget_frac", "dspark_clear_info_records")


@dataclass(frozen=True)
class Table:
    """Answers for one version; `note` says so where the version itself is not known."""

    version: Version | None
    note: str = ""

    def facts(self, shown_version: str) -> SchedulerFacts:
        """Every fact out of the table."""
        return SchedulerFacts(
            version=shown_version,
            slots=self.slots(),
            default_slot_limit=self._fact(LIMIT_RULE, _SCHEDULER, self._limit_function()),
            has_async_depth=self._fact(self._is("0.5.7"), *self._declaration()),
            layer_split=self.layer_split(),
            live_keys=self.live_keys(),
            live_answer_is_true=self._fact(self._is("0.5.15"), *self._setter()),
            slot_limit_key=self._fact(self._key(), _SCHEDULER, self._limit_function()),
        )

    def slots(self) -> SourceFact[SlotRule]:
        rule: SlotRule = "pp_size + pp_async_batch_depth" if self._is("0.5.7") else "pp_size"
        if self._is("0.5.7"):
            return self._fact(rule, _PP_LOOP, "init_pp_loop_state")
        return self._fact(rule, _PP_LOOP if self._is("0.5.4") else _SCHEDULER, "event_loop_pp")

    def layer_split(self) -> SourceFact[SplitRule]:
        rule: SplitRule = "one more on the last stages" if self._is("0.5.6") else "remainder on the last stage"
        return self._fact(rule, "srt/distributed/utils.py", "get_pp_indices")

    def live_keys(self) -> SourceFact[tuple[str, ...]]:
        keys = (self._key(), *_THRESHOLDS, *(_DSPARK if self._is("0.5.16") else ()))
        file, function = self._setter()
        return self._fact(keys, file, "_update_handlers" if self._is("0.5.22") else function)

    def _setter(self) -> tuple[str, str]:
        return (_INTERNAL_STATE if self._is("0.5.22") else _SCHEDULER), "set_internal_state"

    def _declaration(self) -> tuple[str, str]:
        if self._is("0.5.20"):
            return "srt/arg_groups/fields/parallel.py", "Parallel"
        return "srt/server_args.py", "ServerArgs"

    def _limit_function(self) -> str:
        return "init_model_worker" if self._is("0.5.7") else "__init__"

    def _key(self) -> str:
        return "pp_max_micro_batch_size" if self._is("0.5.3.post1") else "max_micro_batch_size"

    def _is(self, bound: str) -> bool:
        return since(self.version, bound)

    def _fact(self, value: T, file: str, function: str) -> SourceFact[T]:
        return SourceFact(value, file, function, None, "table by version", self.note)
