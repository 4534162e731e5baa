from dataclasses import replace

from ppagent.evidence.evidence import Evidence
from ppagent.report.headline import headline
from ppagent.sglang.flags.history import versions_known
from tests.report.samples import diagnosed


def version_of(host: str, version: str, authority: int = 2) -> Evidence:
    return Evidence(f"V{host}{authority}", "server.version", "x", {"engine.version": version}, "", host, "", authority)


def test_hosts_that_run_different_versions_are_told_apart_at_the_top() -> None:
    same = replace(diagnosed(), evidence=(version_of("a", "0.5.11"), version_of("b", "0.5.11")))
    assert "SGLang 0.5.11" in headline(same) and "differ" not in headline(same)
    other = replace(diagnosed(), evidence=(version_of("a", "0.5.11"), version_of("b", "0.5.3")))
    assert "SGLang 0.5.11 on a, 0.5.3 on b (versions differ)" in headline(other)


def test_of_two_witnesses_on_one_host_the_server_itself_counts() -> None:
    found = replace(diagnosed(), evidence=(version_of("a", "0.5.3"), version_of("a", "0.5.11", 3)))
    assert "SGLang 0.5.11" in headline(found) and "differ" not in headline(found)


def test_a_live_server_is_of_now_whatever_the_day_of_its_logs_last_line() -> None:
    at = Evidence("E9", "logs.startup", "server.log", {"recording.at": "2026-05-02"}, "", "a", "", 2)
    found = replace(diagnosed(), evidence=(at,))

    assert headline(replace(found, target_kind="recording")).endswith("recorded 2026-05-02")
    assert headline(replace(found, target_kind="ssh")).endswith("live")
    assert "recorded" not in headline(replace(found, target_kind="local"))


def test_a_version_that_only_the_settings_in_the_log_tell_says_so_with_its_likes_and_what_was_stated() -> None:
    alike = {"engine.version": "0.5.10", "engine.alike": ["0.5.10", "0.5.10.post1"]}
    told = Evidence("E1", "server.version", "server.log", alike, "", "a", "", 2)
    found = replace(diagnosed(), evidence=(told,))
    assert "SGLang 0.5.10 (or 0.5.10.post1, by the settings that its log names)" in headline(found)

    last = versions_known()[-1]
    newest = Evidence(
        "E1", "server.version", "server.log", {"engine.version": last, "engine.alike": [last]}, "", "", "", 2
    )
    later = replace(diagnosed(), evidence=(newest,))
    assert f"SGLang {last} (or later, by the settings that its log names)" in headline(later)

    stated = Evidence("E2", "user.stated", "incident.yaml", {"engine.version": "0.5.6"}, "", "", "", 1)
    other = replace(diagnosed(), evidence=(told, stated))
    assert "by the settings that its log names, 0.5.6 was stated)" in headline(other)

    read = replace(diagnosed(), evidence=(told, version_of("a", "0.5.11", 3)))
    assert "SGLang 0.5.11" in headline(read) and "settings" not in headline(read)


def test_of_a_launch_that_tells_some_sizes_those_are_told() -> None:
    asked = {"launch.command": "--tp 8 --dp 8", "launch.tp_size": 8, "launch.dp_size": 8, "launch.untold": ["..."]}
    launch = Evidence("E1", "server.launch", "launch.txt", asked, "", "a", "", 1)
    assert " TP8 DP8" in headline(replace(diagnosed(), evidence=(launch,)))
    assert "PP" not in headline(replace(diagnosed(), evidence=(launch,)))
    only_log = Evidence("E2", "logs.trouble", "server.log", {"log.tags": []}, "", "a", "", 2)
    assert "PP1" not in headline(replace(diagnosed(), evidence=(only_log,)))
