"""The commands to run by hand give what is read again."""

import re

from ppagent.record.commands import by_hand
from ppagent.targets.target import Artifact


def test_the_cards_are_told_by_the_uuid_that_their_processes_name() -> None:
    queries = (by_hand(artifact) for artifact in (Artifact.GPUS, Artifact.GPU_PROCESSES))
    cards, processes = (re.findall(r"--query-[a-z-]+=(\S+)", query)[0].split(",") for query in queries)
    assert {"index", "uuid", "power.limit", "power.default_limit", "pcie.link.width.max"} <= set(cards)
    assert {"gpu_uuid", "pid", "process_name", "used_gpu_memory"} <= set(processes)
