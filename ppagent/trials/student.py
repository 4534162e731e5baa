"""Student's t: how far a mean of few measurements may lie from the truth."""

import math


def t_quantile(confidence: float, df: int) -> float:
    """The t that |T| stays below with `confidence` (0 to 1), of `df` degrees of freedom, one or more."""
    if not 0 < confidence < 1 or df < 1:
        raise ValueError("a confidence lies between 0 and 1, degrees of freedom are 1 or more")
    low, high = 0.0, 1.0
    while _within(high, df) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, df) < confidence else (low, middle)
    return high


def _within(t: float, df: int) -> float:
    """The probability of |T| <= t, by the closed form for whole degrees of freedom."""
    angle = math.atan2(t, math.sqrt(df))
    odd = df % 2
    term = math.cos(angle) if odd else 1.0
    total = term if df > 1 else 0.0
    for n in range(2 + odd, df - 1, 2):
        term *= (n - 1) / n * math.cos(angle) ** 2
        total += term
    whole = math.sin(angle) * total
    return 2 / math.pi * (angle + whole) if odd else whole
