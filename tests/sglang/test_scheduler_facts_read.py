"""Facts of a version's scheduler, read in a source tree or taken from the table."""

from pathlib import Path

import pytest

from ppagent.sglang.scheduler_facts.read import read_scheduler_facts

NEW_LOOP = """
class Mixin:
    def init_pp_loop_state(self):
        self.pp_loop_size: int = parallel().pp_size + parallel().pp_async_batch_depth
"""
OLD_LOOP = """
class Scheduler:
    def __init__(self):
        if shared["max_micro_batch_size"] is None:
            shared["max_micro_batch_size"] = max(self.max_running_requests // server_args.pp_size, 1)

    def event_loop_pp(self):
        mbs = [None] * self.pp_size

    def set_internal_state(self, request):
        args_allow_update = set(["max_micro_batch_size", "threshold"])
        return SetInternalStateReqOutput(updated=True, server_args={})
"""
NEW_SCHEDULER = """
class Scheduler:
    def init_model_worker(self):
        override("default", pp_max_micro_batch_size=max(self.max_running_requests // parallel().pp_size, 1))
"""
NEW_STATE = """
class Controller:
    def set_internal_state(self, request):
        if bad:
            return SetInternalStateReqOutput(updated=False)
        return SetInternalStateReqOutput(updated=True)

    def _update_handlers(self):
        return {"pp_max_micro_batch_size": 1, "extra": 2}
"""
SPREAD = """
def get_pp_indices(num_hidden_layers, pp_rank, pp_size):
    if pp_rank >= pp_size - remainder:
        start_layer = 1
"""
LAST = """
def get_pp_indices(num_hidden_layers, pp_rank, pp_size):
    if pp_rank == pp_size - 1:
        end_layer = num_hidden_layers
"""


def write(root: Path, **files: str) -> Path:
    names = {
        "scheduler": "managers/scheduler.py",
        "loop": "managers/scheduler_pp_mixin.py",
        "state": "managers/scheduler_components/internal_state.py",
        "layers": "distributed/utils.py",
        "arguments": "server_args.py",
    }
    for key, text in files.items():
        path = root / "sglang" / "srt" / names[key]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_an_old_tree_shows_its_own_names_and_lines(tmp_path: Path) -> None:
    tree = write(tmp_path, scheduler=OLD_LOOP, layers=LAST, arguments="class ServerArgs:\n    pp_size: int = 1\n")
    facts = read_scheduler_facts(tree, "0.4.10")
    assert (facts.slots.value, facts.slots.function, facts.slots.origin) == ("pp_size", "event_loop_pp", "tree")
    assert facts.slots.line == 8
    assert facts.slot_limit_flag == "--max-micro-batch-size"
    assert facts.has_async_depth.value is False
    assert facts.live_keys.value == ("max_micro_batch_size", "threshold")
    assert facts.live_answer_is_true.value is False
    assert facts.layer_split.value == "remainder on the last stage"


def test_a_new_tree_wins_over_the_table_of_its_version(tmp_path: Path) -> None:
    tree = write(tmp_path, loop=NEW_LOOP, scheduler=NEW_SCHEDULER, state=NEW_STATE, layers=SPREAD)
    facts = read_scheduler_facts(tree / "sglang", "0.4.10")
    assert facts.slots.value == "pp_size + pp_async_batch_depth"
    assert facts.slots.source == "srt/managers/scheduler_pp_mixin.py: init_pp_loop_state, line 4"
    assert facts.has_async_depth.value is True
    assert facts.default_slot_limit.value == "max(max_running_requests // pp_size, 1)"
    assert facts.live_keys.value == ("pp_max_micro_batch_size", "extra")
    assert facts.live_answer_is_true.value is True
    assert facts.layer_split.value == "one more on the last stages"


def test_what_a_partial_tree_lacks_the_table_answers_and_says_so(tmp_path: Path) -> None:
    facts = read_scheduler_facts(write(tmp_path, loop=NEW_LOOP), "0.5.10")
    assert facts.slots.origin == "tree"
    assert facts.layer_split.origin == "table by version"
    assert facts.layer_split.note == "not found in this source tree"
    assert facts.layer_split.source == "srt/distributed/utils.py: get_pp_indices (table by version)"


def test_a_changed_default_is_not_taken_for_the_known_one(tmp_path: Path) -> None:
    changed = NEW_SCHEDULER.replace("// parallel().pp_size", "// parallel().tp_size")
    facts = read_scheduler_facts(write(tmp_path, scheduler=changed), "0.5.23")
    assert facts.default_slot_limit.origin == "table by version"


def test_the_tree_says_its_version(tmp_path: Path) -> None:
    tree = write(tmp_path, loop=NEW_LOOP)
    (tree / "sglang" / "_version.py").write_text('__version__ = version = "0.5.5"\n')
    facts = read_scheduler_facts(tree, None)
    assert facts.version == "0.5.5"
    assert facts.layer_split.value == "remainder on the last stage"


@pytest.mark.parametrize(
    ("version", "flag", "slots", "truthful", "setter"),
    [
        ("0.4.7", "--max-micro-batch-size", "pp_size", False, "srt/managers/scheduler.py"),
        ("0.5.3", "--max-micro-batch-size", "pp_size", False, "srt/managers/scheduler.py"),
        ("0.5.3.post1", "--pp-max-micro-batch-size", "pp_size", False, "srt/managers/scheduler.py"),
        ("0.5.6.post2", "--pp-max-micro-batch-size", "pp_size", False, "srt/managers/scheduler.py"),
        (
            "0.5.14",
            "--pp-max-micro-batch-size",
            "pp_size + pp_async_batch_depth",
            False,
            "srt/managers/scheduler.py",
        ),
        ("v0.5.15", "--pp-max-micro-batch-size", "pp_size + pp_async_batch_depth", True, "srt/managers/scheduler.py"),
        (
            "0.5.23+cu130",
            "--pp-max-micro-batch-size",
            "pp_size + pp_async_batch_depth",
            True,
            "srt/managers/scheduler_components/internal_state.py",
        ),
    ],
)
def test_the_table_knows_each_era(version: str, flag: str, slots: str, truthful: bool, setter: str) -> None:
    facts = read_scheduler_facts(None, version)
    assert facts.slot_limit_flag == flag
    assert facts.slots.value == slots
    assert facts.live_answer_is_true.value is truthful
    assert facts.live_keys.file == setter
    assert facts.slots.note == ""


def test_an_unknown_or_newer_version_is_answered_with_a_warning() -> None:
    assert "assumed" in read_scheduler_facts(None, None).slots.note
    assert "newer than" in read_scheduler_facts(None, "0.6.1").slots.note
    assert "no pipeline" in read_scheduler_facts(None, "0.4.6").slots.note
