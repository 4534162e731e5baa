"""What may run on a host without a person's word, and the known ways in which such lists have failed elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppagent_tools.shell_paths import may_read
from ppagent_tools.shell_policy import review
from ppagent_tools.shell_table import RULES

PLACES = ("/opt/venv/lib/python3.12/site-packages/sglang", "/models/kimi", "/srv/sglang/server.log")


def allowed(line: str) -> bool:
    return not review(line.split(), PLACES).refusal


@pytest.mark.parametrize(
    "line",
    [
        "nvidia-smi",
        "nvidia-smi -q -d PERFORMANCE,POWER -i 3",
        "nvidia-smi --query-gpu=index,power.draw --format=csv,noheader,nounits",
        "nvidia-smi topo -m",
        "nvidia-smi nvlink -s -i 0",
        "nvidia-smi dmon -c 5 -s pucm",
        "cat /proc/cpuinfo",
        "cat /proc/1234/status",
        "cat /sys/class/net/eth0/speed",
        "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "head -n 50 /srv/sglang/server.log",
        "tail -n200 /srv/sglang/server.log",
        "grep -n -i retract /srv/sglang/server.log",
        "grep -c -e error|fail /srv/sglang/server.log",
        "sed -n 10,20p /opt/venv/lib/python3.12/site-packages/sglang/srt/server_args.py",
        "ls -la /models/kimi",
        "ls /dev/shm",
        "du -sh /models/kimi",
        "df -h /dev/shm",
        "ps aux",
        "ps -eo pid,comm,pcpu --sort=-pcpu",
        "lspci -vvv -s 01:00.0",
        "numactl -H",
        "taskset -cp 1234",
        "sysctl kernel.numa_balancing vm.swappiness",
        "ss -tln",
        "ip -s link show dev eth0",
        "ethtool -i eth0",
        "journalctl -u sglang.service -n 200 --no-pager",
        "journalctl -k -b -g NVRM",
        "systemctl status sglang.service --no-pager",
        "docker logs --tail 100 sglang",
        "docker ps -a",
        "dmesg -T",
        "free -h",
        "uname -a",
    ],
)
def test_commands_that_only_read_are_allowed(line: str) -> None:
    assert review(line.split(), PLACES).refusal == ""


CHAINS = [
    "echo x && ls", "cat /proc/meminfo && rm -rf /", "cat /proc/meminfo ; id", "uptime;reboot", "uptime && reboot",
    "uptime || id", "uptime & id", "uptime | tee /tmp/x", "cat /proc/meminfo;id", "git log", "git logout",
    "nvidia-smi\nid", "ls $(id)", "ls `id`", "ls ${HOME}", "cat <(id)",
]  # fmt: skip
REDIRECTS = [
    "cat /proc/meminfo > /root/.ssh/authorized_keys", "cat /proc/meminfo >> /etc/cron.d/x", "uptime 2> /tmp/x",
    "cat < /etc/shadow", "cat /proc/meminfo >/tmp/x", "grep -n x /srv/sglang/server.log >| /tmp/x",
]  # fmt: skip
TWO_STEPS = ["echo aWQ=", "base64 -d /srv/sglang/server.log", "tee /tmp/x", "sh -c id", "bash -c id", "python3 -c 1",
             "xargs id", "env id", "sudo id", "nohup id", "timeout 1 id", "nice id", "eval id", "exec id"]  # fmt: skip
OPTIONS_THAT_WRITE_OR_RUN = [
    "sed -i s/a/b/ /srv/sglang/server.log", "sed -n 1w/tmp/x /srv/sglang/server.log",
    "sed -n 1e /srv/sglang/server.log",
    "sed 1d /srv/sglang/server.log", "sed -n 1,2p -i /srv/sglang/server.log", "sort -o /tmp/x /srv/sglang/server.log",
    "find /sys -delete", "find /sys -exec id", "find /sys -fprint /tmp/x", "awk -f /tmp/x", "awk BEGIN{system(1)}",
    "tail -f /srv/sglang/server.log", "tail --follow=name /srv/sglang/server.log",
    "tail --pid=1 /srv/sglang/server.log",
    "grep -f /etc/shadow x /srv/sglang/server.log", "grep --file=/etc/shadow /srv/sglang/server.log",
    "grep -r x /models/kimi", "grep x", "cat", "cat -", "less /srv/sglang/server.log", "vi /srv/sglang/server.log",
    "nvidia-smi -pl 300", "nvidia-smi -pm 1", "nvidia-smi --gpu-reset -i 0", "nvidia-smi -r", "nvidia-smi -q -f /tmp/x",
    "nvidia-smi --filename=/tmp/x -q", "nvidia-smi -lgc 1000", "nvidia-smi mig -cgi 9", "nvidia-smi daemon",
    "nvidia-smi dmon -f /tmp/x", "dmesg -C", "dmesg -c", "dmesg -n 1", "dmesg -H", "journalctl --vacuum-size=1",
    "journalctl --rotate", "journalctl --cursor-file=/tmp/x", "journalctl --file=/etc/shadow", "ss -K", "ss -D /tmp/x",
    "sysctl -w vm.swappiness=1", "sysctl vm.swappiness=1", "sysctl -p /tmp/x", "date -s 2020-01-01", "hostname x",
    "ip link set eth0 down", "ip addr add 1.2.3.4 dev eth0", "ip netns exec x id", "ip -batch /tmp/x",
    "ethtool -s eth0 speed 10", "ethtool -K eth0 gro off", "taskset -p 1 1234", "taskset 1 id", "numactl -N 0 id",
    "numactl --hardware id", "docker exec x id", "docker rm x", "docker run x", "docker -H tcp://x ps",
    "docker inspect x", "systemctl restart sglang", "systemctl --host=x status", "systemctl cat x", "systemctl show x",
    "lspci -A x", "ps auxe", "ps e", "ps -eo environ", "kill 1", "cpupower frequency-set -g x", "mpstat -o x",
    "vmstat 1 100000", "curl http://x", "wget http://x", "nc -l 1", "ssh x", "scp a b", "rm x", "mv a b", "dd of=x",
    "truncate -s 0 /srv/sglang/server.log", "tar --to-command=id", "git -c core.pager=id log",
]  # fmt: skip
ENVIRONMENT = ["LD_PRELOAD=/tmp/x ls /sys", "PAGER=id journalctl -k", "GIT_PAGER=id git log", "PATH=/tmp ls /sys"]
OTHER_PROGRAMS = ["/tmp/cat /proc/meminfo", "./nvidia-smi", "/usr/bin/nvidia-smi", "../ls /sys", "Nvidia-smi",
                  "ls\u200b", "\u0441at /proc/meminfo"]  # fmt: skip
SECRETS = [
    "cat /etc/shadow", "head /etc/passwd", "grep x /etc/shadow", "cat /root/.ssh/id_rsa", "cat ~/.ssh/id_rsa",
    "cat /proc/1/environ", "cat /proc/self/environ", "cat /proc/1234/mem", "cat /proc/1234/maps", "cat /proc/1/fd/0",
    "cat /proc/1/root/etc/shadow", "cat /proc/1/cwd/x", "cat /proc/1/task/1/environ", "cat /proc/kcore",
    "cat /sys/../etc/shadow", "cat /proc/sys/../1/environ", "cat /models/kimi/../../etc/shadow",
    "cat /models/kimi/.env", "cat /models/kimi/.ssh/id_rsa", "cat /models/kimi/hf_token", "cat /models/kimi/key.pem",
    "cat /models/kimi2/config.json", "cat /srv/sglang/server.log2", "cat /var/log/auth.log", "cat /var/log/secure",
    "cat /home/me/.netrc", "cat server.log", "cat /srv/sglang/*", "ls /root", "ls /home/me/.ssh", "stat /etc/shadow",
    "cat /models/kimi/dump.pkl", "sha256sum /etc/shadow", "readlink -f /root/x", "wc -c /etc/shadow",
]  # fmt: skip


@pytest.mark.parametrize("line", CHAINS + REDIRECTS)
def test_no_chain_and_no_redirection_rides_on_an_allowed_command(line: str) -> None:
    assert not allowed(line)
    assert review([line], PLACES).refusal


@pytest.mark.parametrize("line", TWO_STEPS)
def test_nothing_that_runs_something_else_is_allowed(line: str) -> None:
    assert not allowed(line)


@pytest.mark.parametrize("line", OPTIONS_THAT_WRITE_OR_RUN)
def test_an_allowed_command_with_an_option_that_writes_or_runs_is_refused(line: str) -> None:
    assert not allowed(line)


@pytest.mark.parametrize("line", ENVIRONMENT + OTHER_PROGRAMS)
def test_neither_a_variable_in_front_nor_a_look_alike_program_is_allowed(line: str) -> None:
    assert not allowed(line)


@pytest.mark.parametrize("line", SECRETS)
def test_a_command_that_reads_may_not_read_everything(line: str) -> None:
    assert not allowed(line)


def test_a_long_command_is_refused_and_not_let_through() -> None:
    assert review(["cat", *["/proc/meminfo"] * 50], PLACES).refusal.startswith("a command has 1 to 40 words")
    assert review(["cat", "/proc/" + "x" * 500], PLACES).refusal
    assert review([], PLACES).refusal


WORDS = st.text(max_size=20)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_what_is_not_in_the_table_is_refused_whatever_it_is(argv: list[str]) -> None:
    if argv[0] not in RULES:
        assert review(argv, PLACES).refusal


SYNTAX = st.sampled_from(["&&", ";", "|", ">", "<", "$(id)", "`id`"])


@given(st.sampled_from(sorted(RULES)), st.lists(WORDS, max_size=5), SYNTAX)
def test_no_words_around_it_make_shell_syntax_pass(command: str, words: list[str], syntax: str) -> None:
    assert review([command, *words, syntax], PLACES).refusal
    assert review([command, syntax, *words], PLACES).refusal


@given(st.sampled_from(sorted(RULES)), st.lists(WORDS, max_size=5))
def test_every_path_of_an_allowed_command_may_be_read(command: str, words: list[str]) -> None:
    reviewed = review([command, *words], PLACES)
    assert all(may_read(path, PLACES, names_only=True) == "" for path in reviewed.paths)
    if not reviewed.refusal and command != "grep":
        assert {word for word in words if word.startswith("/")} <= set(reviewed.paths)


@given(st.text(max_size=30))
def test_no_path_leaves_a_place(rest: str) -> None:
    path = f"/models/kimi/{rest}"
    if not may_read(path, PLACES):
        assert ".." not in path.split("/")
        assert not any(part.startswith(".") for part in rest.split("/"))


def test_without_places_only_the_kernels_own_files_are_read() -> None:
    assert may_read("/proc/meminfo", ()) == ""
    assert may_read("/srv/sglang/server.log", ()) != ""
