"""What could not be read is told by what it is to a person, and what is simply not there in one sentence."""

from dataclasses import replace

from ppagent.evidence.evidence import Missing
from ppagent.report.lacking import Lacking, lacking
from tests.report.samples import diagnosed


def told(*missing: Missing, target: str = "box") -> tuple[Lacking, ...]:
    return lacking(replace(diagnosed(), missing=missing, target_name=target))


def test_what_a_recording_does_not_hold_is_one_sentence_without_names_of_tools() -> None:
    found = told(
        Missing("gpu.samples", "hosts/box/gpus.csv was not recorded"),
        Missing("http.metrics", "metrics were not recorded"),
        Missing("server.launch", "neither the launch command nor the processes were recorded"),
        Missing("profile.read", "no profiler trace was recorded"),
    )
    assert found == (
        Lacking("not recorded", "the cards under load, the server's metrics, the launch command, a profiler trace"),
    )


def test_what_a_log_alone_does_not_hold_is_one_sentence() -> None:
    found = told(
        Missing("gpu.samples", "gpus.csv was not recorded: there is only a log"),
        Missing("http.metrics", "metrics were not recorded: there is only a log"),
        Missing("source.flags", "the installed source was not recorded: there is only a log"),
    )
    assert found == (Lacking("not recorded", "the cards under load, the server's metrics, the installed source"),)


def test_all_of_the_log_that_was_not_pasted_is_the_log() -> None:
    found = told(
        Missing("user.stated", "incident.yaml is not in the pasted text"),
        Missing("logs.decode", "server.log is not in the pasted text"),
        Missing("logs.trouble", "server.log is not in the pasted text"),
        Missing("http.metrics", "there are no metrics in the pasted text"),
        target="pasted text",
    )
    assert found == (Lacking("not pasted", "the log, the server's metrics"),)


def test_what_could_not_be_read_has_its_reason_and_its_host() -> None:
    found = told(
        Missing("host.kernel", "the kernel log may not be read; `sudo dmesg` would give it", host="node1"),
        Missing("gpu.samples", "hosts/node0/gpus.csv was not recorded", host="node0"),
    )
    assert found == (
        Lacking("not recorded", "the cards under load of node0"),
        Lacking("the kernel log", "the kernel log may not be read; `sudo dmesg` would give it on node1"),
    )
