import os
import signal
import time

import pytest

from ppagent.chat.halt import Halt


def test_ctrl_c_is_raised_and_remembered_and_the_old_handler_comes_back() -> None:
    halt, before = Halt(), signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), halt.listening():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    assert halt.requested
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        halt.check()


def test_new_work_begins_without_the_old_stop() -> None:
    halt = Halt()
    halt.requested = True

    with halt.listening():
        halt.check()

    assert not halt.requested
