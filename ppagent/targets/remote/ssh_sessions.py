"""The session channels of one connection: few at once, each with a shell that waits for a command.

A command given to a new channel costs three round trips: opening it, starting the command, sending its input (OpenSSH
takes none before). A shell that waits in a channel opened ahead is given command and input in one.
"""

import threading
import time
from contextlib import suppress

from paramiko.channel import Channel
from paramiko.common import cMSG_CHANNEL_REQUEST
from paramiko.message import Message
from paramiko.ssh_exception import ChannelException, SSHException
from paramiko.transport import Transport

from ppagent.errors import ToolError
from ppagent.targets.remote.ssh_door import Patience, new_word, waiting

MOST_CHANNELS = 4
"""sshd allows 10 sessions a connection (MaxSessions) and closes them late; 4 at a time never met its limit."""
OPEN_S = 10.0
_PATIENCE_S = (0.2, 0.5, 1.0, 0.0)
"""How long a refusal is waited out: sshd may not have closed the last session yet."""


class Refused(Exception):
    """The host opens no further session."""


class Sessions:
    """Hands out channels for commands. A host that allows fewer at once gets fewer: the rest wait for their turn."""

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self._name = name
        self.word = new_word()
        self.patience = Patience(name)
        self._change = threading.Condition()
        self._most = MOST_CHANNELS
        self._spare: list[Channel] = []
        self._coming = 0
        self._held = 0

    def open_ahead(self) -> None:
        """Begins to open as many as may be used at once, side by side."""
        with self._change:
            self._begin(self._most)

    def start(self, command: str, stdin: bytes) -> Channel:
        """Runs a command line of sh and gives it `stdin`, which stays open. The channel is to be given back once it is
        closed. Raises ToolError where the host opens none at all, and
        SSHException, EOFError or OSError where the connection is gone."""
        channel = self._take()
        try:
            line = command.encode("utf-8", errors="surrogateescape")
            channel.settimeout(OPEN_S)
            channel.sendall(b"%d\n%b%b" % (len(line), line, stdin))
        except BaseException:
            self.give_back(channel)
            raise
        return channel

    def give_back(self, channel: Channel | None) -> None:
        """Closes it, so that a place is free again."""
        if channel is not None:
            with suppress(EOFError, OSError):  # closing sends something, and the connection may be gone
                channel.close()
        with self._change:
            self._held -= 1
            self._change.notify_all()

    def _take(self) -> Channel:
        for patience_s in _PATIENCE_S:
            spare = self._place()
            if spare is not None:
                return spare
            try:
                return self._open()
            except Refused as refusal:
                self._refused()
                if not patience_s:
                    raise ToolError(f"{self._name} opens no further session: {refusal}") from refusal
                time.sleep(patience_s)
            except BaseException:
                self.give_back(None)
                raise
        raise AssertionError("the last attempt returned or raised")

    def _place(self) -> Channel | None:
        """Waits for a place; with it comes a channel that was opened ahead, if one was. The next one is seen to."""
        with self._change:
            while not self._spare and (self._coming or self._held >= self._most):
                self._change.wait()
            self._held += 1
            spare = self._spare.pop(0) if self._spare else None
            if spare is not None and not self._spare and not self._coming and self._held < self._most:
                self._begin(1)
            return spare

    def _begin(self, count: int) -> None:
        self._coming += count
        for _ in range(count):
            threading.Thread(target=self._open_one_ahead, name="ppagent-session", daemon=True).start()

    def _refused(self) -> None:
        """No more at once than are open now, as long as any is: one must end before the next can begin."""
        with self._change:
            self._held -= 1
            self._most = max(1, self._held + len(self._spare))
            self._change.notify_all()

    def _open_one_ahead(self) -> None:
        channel: Channel | None = None
        try:
            channel = self._open()
        except (Refused, SSHException, EOFError, OSError):  # whoever needs one tries again, and says why there is none
            channel = None
        finally:
            with self._change:
                self._coming -= 1
                self._spare += [channel] if channel is not None else []
                self._change.notify_all()

    def _open(self) -> Channel:
        try:
            channel = self._transport.open_session(timeout=OPEN_S)
        except ChannelException as error:
            raise Refused(error.text) from error
        except SSHException as error:
            if self._transport.is_active() and "Timeout" not in str(error):
                raise Refused(str(error)) from error  # of two refusals at once paramiko tells the reason of one
            raise
        _execute(self._transport, channel, waiting(self.word))
        return channel


def _execute(transport: Transport, channel: Channel, command: str) -> None:
    """Starts the waiting shell, as `Channel.exec_command` does (RFC 4254, 6.5), but without waiting for the word that
    it runs: a refusal closes the channel."""
    message = Message()
    message.add_byte(cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string("exec")
    message.add_boolean(True)
    message.add_string(command)
    transport._send_user_message(message)  # type: ignore[attr-defined]  # as Channel itself does
