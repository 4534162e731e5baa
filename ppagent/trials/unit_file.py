"""A drop-in for a systemd unit: the new command as systemd reads it (systemd.service(5), systemd.syntax(7))."""

import re
from collections.abc import Mapping, Sequence

NAME = "zzz-ppagent.conf"
"""Drop-ins are read in the order of their names, and the last ExecStart= counts."""
TRIAL_NAME = "zzzz-ppagent-trial.conf"
"""After that of a launch that was kept before; of two files with one name, that below /etc would hide the other."""
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "%": "%%"}


_VARIABLE = re.compile(r'Environment="?(\w+)=')


def drop_in(argv: Sequence[str], env: Mapping[str, str], earlier: str = "") -> str:
    """The file: the unit as it is, with another command and a few other variables. `earlier`: the drop-in of a launch
    that was kept before, whose place this one takes; its variables go on."""
    lines = [
        "# Written by ppagent. To go back, remove this file, then: systemctl daemon-reload",
        "[Service]",
        "ExecStart=",
    ]
    lines.append("ExecStart=" + " ".join(_quoted(word.replace("$", "$$")) for word in argv))
    lines += [line for line in earlier.splitlines() if (v := _VARIABLE.match(line)) and v[1] not in env]
    lines += [f"Environment={_quoted(f'{name}={value}')}" for name, value in env.items()]
    return "\n".join((*lines, ""))


def _quoted(word: str) -> str:
    text = "".join(_ESCAPED.get(letter, letter) for letter in word)
    plain = text == word and word and not any(letter.isspace() or letter in "';#" for letter in word)
    return text if plain else f'"{text}"'
