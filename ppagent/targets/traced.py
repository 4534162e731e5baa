"""A target that holds profiler traces: a recording. A live server has none until it is profiled."""

from typing import IO, Protocol, runtime_checkable


@runtime_checkable
class Traced(Protocol):
    """What the profile tools ask of a target."""

    def traces(self, host: str) -> tuple[str, ...]:
        """Names of the artifacts `traces/*.trace.json.gz`, sorted. Raises NotRecorded where there is none."""
        ...

    def open_trace(self, host: str, name: str) -> IO[bytes]:
        """One of them, as it was written; the caller closes it. Raises NotRecorded and ToolError."""
        ...
