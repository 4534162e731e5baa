"""Notices a connection over which nothing comes any more, though nobody said that it ended."""

import threading
import time

from paramiko.ssh_exception import SSHException
from paramiko.transport import Transport

EVERY_S = 10.0
SILENT_S = 30.0
"""A host that has said nothing for so long, asked and not answering, is taken for lost."""


class Pulse:
    """Asks the host for a sign of life now and then, and closes the connection where none comes.

    Nobody else notices a line that is dead beyond a jump or a ProxyCommand: up to there TCP still answers.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._heard = time.monotonic()

    def start(self) -> None:
        threading.Thread(target=self._beat, name="ppagent-pulse", daemon=True).start()

    def heard(self) -> None:
        """Something came. What a slow line brings is a sign of life too, ahead of the answer that waits behind it."""
        self._heard = time.monotonic()

    def _beat(self) -> None:
        while self._transport.is_active():
            answered = threading.Event()
            threading.Thread(target=self._listen, args=(answered,), name="ppagent-pulse", daemon=True).start()
            try:
                self._transport.global_request("keepalive@openssh.com", wait=True)
            except (EOFError, OSError, SSHException):  # the line broke while asking; whoever uses it says so
                return
            finally:
                answered.set()
            self.heard()
            time.sleep(EVERY_S)

    def _listen(self, answered: threading.Event) -> None:
        while not answered.wait(max(0.1, self._heard + SILENT_S - time.monotonic())):
            if time.monotonic() - self._heard >= SILENT_S:
                self._transport.close()
                return
