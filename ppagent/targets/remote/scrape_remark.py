"""Why no further scrape came where more were to come: a comment at the end of the last one, which a recording keeps."""

_MARK = "# ended_early: "


def with_remark(scrape: str, why: str) -> str:
    """A scrape with the reason behind it."""
    return f"{scrape.rstrip()}\n{_MARK}{' '.join(why.split())}\n"


def remark_of(scrape: str) -> str:
    """The reason that stands behind a scrape; empty for none."""
    last = scrape.rstrip().rpartition("\n")[2]
    return last.removeprefix(_MARK) if last.startswith(_MARK) else ""
