"""What of a what-if was not understood: the words that no setting, load or shape was read from."""

import re

from ppagent.chat.answers.setting import MANY, SETTING_PATTERNS, is_value
from ppagent.chat.answers.shape import SIZE

_PLAIN = frozenset(
    re.findall(
        r"[\w']+",
        """a about add added all also an and any apply are around as at back be been better big bigger both bring but by
        can case change changed changing combine combined compared could current decode did different do does doing done
        down each effect enable enabled ever exactly expect expected fast faster first for forecast forecasts from gain
        get gets getting give given gives go goes going guess had happen happens have help helps hey hi how i i'd i'm if
        in increase instead into is it it'd it's its just keep kept know let let's limit limited load look lower lowered
        make makes many me model more much my new next no not now number numbers of off ok okay on one only or other our
        out over per perf performance please pls predict predicted put raise raised rather re really result right
        same say says see server set sets setting settings should show side simultaneously slot slots slower so some
        speed speedup still such suppose switch switched take tell than that that's the their them then there these
        they thing think this those though through throughput time to together tok token tokens toks too together
        tps try turn turned under up upon us use used using value values very want was way we we'd well were what
        what'd what's whats when where which while will with within without would wouldn't yeah yes you your s second
        pp pipeline async requests request user users flight concurrent concurrency keeping else maybe might impact
        affect compare need needs needed necessary require required worth""",
    )
)
"""Words that say nothing of a setting."""
_JOINED = re.compile(r"[^\s,;:.?!()\[\]\"]+(?:[ ,/]+\d+)*")


def unused_in(text: str) -> tuple[str, ...]:
    """The pieces of `text` that were neither read as a setting, a load or a shape nor are plain words, in order."""
    rest = text
    for pattern in (*SETTING_PATTERNS, SIZE):
        rest = pattern.sub(_gap, rest, count=0 if pattern in (*MANY, SIZE) else 1)
    pieces: list[str] = []
    end = -2
    for match in _JOINED.finditer(rest):
        word = match.group().strip("'`*_-=+<>&|/")
        if not word or word.lower() in _PLAIN or not re.search(r"\w", word):
            continue
        if pieces and not rest[end : match.start()].strip():
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
        end = match.end()
    return tuple(pieces)


def _gap(match: re.Match[str]) -> str:
    """Nothing that would join what stood on both sides; what is no value is left where it stood."""
    groups = match.groupdict()
    value, number = groups.get("value") or "", groups.get("n") or ""
    if value and "=" not in match.group() and not is_value(value):
        return f" ; {value}"
    return match.group() if number and not int(number) and "depth" not in match.group() else " ; "
