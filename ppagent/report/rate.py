"""A figure as people read it: three digits, and never a power of ten."""


def rate(value: float) -> str:
    """95.6, 726, 1711: three digits behind which nothing is known, whole from 100 on."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
