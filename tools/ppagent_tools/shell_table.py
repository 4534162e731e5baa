"""The commands that only read, as data: forms of each, the options of each form, what it may be given."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Pattern = re.Pattern[str]
Operand = Pattern | str
"""What an operand must look like, or `path` (a file that may be read) or `names` (a place whose names may be read)."""

_NUMBER = re.compile(r"\d{1,9}")
_FEW = re.compile(r"[1-9]|10")
_NOTHING = re.compile(r"(?!)")
_ANY = re.compile(r".{1,200}")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%+,-]*")
_PIDS = re.compile(r"\d{1,9}(?:,\d{1,9})*")
_COLUMNS = re.compile(r"(?!.*environ)[a-z_%]+(?:,[a-z_%]+)*")
_QUERY = re.compile(r"[\w.]+(?:,[\w.]+)*")
_LINES = re.compile(r"\d{1,9}(?:,\d{1,9})?p")
_SYSCTL = re.compile(r"[a-z0-9_]+(?:[./][A-Za-z0-9_-]+)*")
_TIME = re.compile(r"[A-Za-z0-9:. +-]{1,40}")


@dataclass(frozen=True)
class Rule:
    """One form of a command. `first` are the words it must begin with; `letters` one-letter options that may be
    written together; `valued` options with what their value must look like; of `least` to `most` operands the first
    is of kind `leading` where there is one, the others of kind `operand`."""

    first: tuple[str, ...] = ()
    letters: str = ""
    flags: frozenset[str] = frozenset()
    valued: Mapping[str, Pattern] = field(default_factory=dict)
    operand: Operand = _NOTHING
    least: int = 0
    most: int = 0
    leading: Operand | None = None


def _rule(*first: str, letters: str = "", flags: str = "", least: int = 0, most: int = 0, operand: Operand = _NOTHING,
          leading: Operand | None = None, **valued: Pattern) -> Rule:  # fmt: skip
    """`n=...` is the option -n, `max_count=...` the option --max-count."""
    named = {f"-{key}" if len(key) == 1 else f"--{key.replace('_', '-')}": value for key, value in valued.items()}
    return Rule(first, letters, frozenset(flags.split()), named, operand, least, most, leading)


_FILES: dict[str, tuple[Rule, ...]] = {
    "cat": (_rule(letters="nA", operand="path", least=1, most=10),),
    "head": (_rule(letters="q", operand="path", least=1, most=10, n=_NUMBER, c=_NUMBER),),
    "tail": (_rule(letters="q", operand="path", least=1, most=10, n=_NUMBER, c=_NUMBER),),
    "wc": (_rule(letters="lcwm", operand="path", least=1, most=10),),
    "ls": (_rule(letters="laAhtrSd1Fni", operand="names", least=1, most=10),),
    "stat": (_rule(letters="L", operand="names", least=1, most=10),),
    "readlink": (_rule(letters="fe", operand="names", least=1, most=10),),
    "du": (_rule(letters="shxkm", operand="names", least=1, most=4, d=_NUMBER, max_depth=_NUMBER),),
    "sha256sum": (_rule(operand="path", least=1, most=10),),
    "grep": (
        _rule(letters="cEFHhilnoPqsvwxa", leading=_ANY, operand="path", least=2, most=10, m=_NUMBER, A=_NUMBER,
              B=_NUMBER, C=_NUMBER, max_count=_NUMBER, include=_WORD),
        _rule(letters="cEFHhilnoPqsvwxa", operand="path", least=1, most=10, m=_NUMBER, A=_NUMBER, B=_NUMBER,
              C=_NUMBER, e=_ANY, max_count=_NUMBER, include=_WORD),
    ),
    "sed": (_rule("-n", leading=_LINES, operand="path", least=2, most=2),),
}  # fmt: skip

_HOST: dict[str, tuple[Rule, ...]] = {
    "uptime": (_rule(),),
    "nproc": (_rule(flags="--all"),),
    "free": (_rule(letters="hmgbtw"),),
    "df": (_rule(letters="hPkTi", operand="names", most=4),),
    "uname": (_rule(letters="asrnvm"),),
    "id": (_rule(letters="ung"),),
    "date": (_rule(letters="uIR", flags="-Is -Iseconds"),),
    "lscpu": (_rule(letters="eJ"),),
    "lsmod": (_rule(),),
    "lsblk": (_rule(letters="fmtd"),),
    "lspci": (_rule(letters="tvnkD", s=re.compile(r"[0-9A-Fa-f:.]{1,12}")),),
    "numactl": (_rule("-H"), _rule("--hardware"), _rule("-s"), _rule("--show")),
    "numastat": (_rule(letters="mn", p=_PIDS),),
    "vmstat": (_rule(letters="waS", operand=_FEW, most=2),),
    "mpstat": (_rule("-P", "ALL", operand=_FEW, most=2), _rule(operand=_FEW, most=2)),
    "getconf": (_rule(operand=_WORD, least=1, most=1),),
    "sysctl": (_rule(letters="n", operand=_SYSCTL, least=1, most=10),),
    "taskset": (_rule("-p", operand=_PIDS, least=1, most=1), _rule("-cp", operand=_PIDS, least=1, most=1)),
    "cpupower": (_rule("frequency-info"), _rule("idle-info")),
    "which": (_rule(operand=_WORD, least=1, most=4),),
    "pgrep": (_rule(letters="afl", operand=_WORD, least=1, most=1),),
    "ps": (
        _rule("aux"), _rule("auxww"), _rule("-ef"), _rule("-eLf"),
        Rule(letters="eALT", valued={"-o": _COLUMNS, "-eo": _COLUMNS, "-eLo": _COLUMNS, "-p": _PIDS,
                                     "--sort": re.compile(r"[+-]?[a-z_%]+")}),
    ),
    "dmesg": (_rule(letters="Tktx", l=_WORD, level=_WORD),),
    "journalctl": (
        _rule(letters="kbqr", flags="--no-pager --utc", u=_WORD, unit=_WORD, n=_NUMBER, lines=_NUMBER, S=_TIME, U=_TIME,
              since=_TIME, until=_TIME, p=_WORD, priority=_WORD, o=re.compile(r"cat|short(?:-\w+)*"), g=_ANY),
    ),
    "systemctl": (
        *(_rule(verb, letters="la", flags="--no-pager --all", operand=_WORD, most=4, n=_NUMBER, p=_WORD)
          for verb in ("status", "is-active", "list-units")),
    ),
}  # fmt: skip

_NETWORK: dict[str, tuple[Rule, ...]] = {
    "ss": (_rule(letters="tulnpsaiHm"),),
    "ip": tuple(
        _rule(*lead, what, *tail, operand=_WORD, most=2 if tail else 0)
        for lead in ((), ("-s",), ("-d",), ("-br",))
        for what in ("addr", "link", "route")
        for tail in ((), ("show",))
    ),
    "ethtool": (
        _rule(operand=_WORD, least=1, most=1),
        *(_rule(show, operand=_WORD, least=1, most=1) for show in ("-i", "-S", "-k", "-g", "-l", "-a", "-c")),
    ),
    "ibstat": (_rule(letters="lsp", operand=_WORD, most=1),),
    "ibstatus": (_rule(operand=_WORD, most=1),),
    "ibv_devinfo": (_rule(letters="lv", d=_WORD),),
}

_CARDS_AND_CONTAINERS: dict[str, tuple[Rule, ...]] = {
    "nvidia-smi": (
        _rule(),
        _rule("-L"),
        _rule("-q", i=_PIDS, d=re.compile(r"[A-Z_]+(?:,[A-Z_]+)*")),
        _rule("topo", "-m"),
        *(_rule("topo", "-p2p", kind) for kind in "rwnap"),
        *(_rule("nvlink", kind, i=_PIDS) for kind in ("-s", "-c", "-e")),
        *(_rule(kind, i=_PIDS, s=re.compile(r"[a-z]+"), c=_FEW, d=_FEW) for kind in ("dmon", "pmon")),
        Rule(
            valued={
                "--query-gpu": _QUERY,
                "--query-compute-apps": _QUERY,
                "--query-remapped-rows": _QUERY,
                "--format": re.compile(r"csv(?:,noheader)?(?:,nounits)?"),
                "-i": _PIDS,
            }
        ),
    ),
    "docker": (
        _rule("ps", letters="a", flags="--no-trunc"),
        _rule("logs", letters="t", operand=_WORD, least=1, most=1, tail=_NUMBER, since=_TIME),
        _rule("stats", "--no-stream", operand=_WORD, most=4),
        _rule("top", operand=_WORD, least=1, most=1),
        _rule("version"),
        _rule("info"),
    ),
}

RULES: Mapping[str, tuple[Rule, ...]] = {**_FILES, **_HOST, **_NETWORK, **_CARDS_AND_CONTAINERS}
"""By command. `dmon` and `pmon` of nvidia-smi without -c go on until their time is up, which does no harm."""
