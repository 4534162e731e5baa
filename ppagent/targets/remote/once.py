"""Things that are fetched once, whoever asks first and from whatever thread."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ppagent.errors import PpagentError

T = TypeVar("T")


class Once:
    """Keeps what was made under a key, and what was raised in making it: a second try would not fare better."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._made: dict[Hashable, Any] = {}
        self._failed: dict[Hashable, PpagentError] = {}

    def held(self, key: Hashable) -> Any:
        """What was made under a key; None where nothing was yet."""
        return self._made.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._failed:
                raise self._failed[key].with_traceback(None)
            if key not in self._made:
                try:
                    self._made[key] = make()
                except PpagentError as error:
                    self._failed[key] = error
                    raise
            made: T = self._made[key]
            return made
