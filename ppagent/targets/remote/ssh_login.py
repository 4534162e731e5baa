"""Logging in: with the keys the configuration names and those of the agent, nothing else."""

import base64
import binascii
from collections.abc import Iterator
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from paramiko.agent import Agent
from paramiko.pkey import PKey, UnknownKeyType
from paramiko.ssh_exception import AuthenticationException, BadAuthenticationType, SSHException
from paramiko.transport import Transport

from ppagent.errors import ExitStatus, UserError
from ppagent.targets.remote.asking import AskSecret
from ppagent.targets.remote.ssh_config import HostConfig


class Login:
    """One attempt to log in to one host; what failed on the way is kept for the message."""

    def __init__(self, transport: Transport, config: HostConfig, ask: AskSecret | None) -> None:
        self._transport = transport
        self._config = config
        self._ask = ask
        self._locked: list[Path] = []
        self._tried = 0

    def log_in(self) -> None:
        """Raises UserError where no key opens the account."""
        agent = Agent() if self._config.use_agent else None
        try:
            for key in self._keys(agent):
                if self._accepted(key):
                    return
            for path in self._locked if self._ask is not None else ():
                if self._accepted(self._unlocked(path)):
                    return
        finally:
            if agent is not None:
                agent.close()
        raise self._refusal()

    def _keys(self, agent: Agent | None) -> Iterator[PKey]:
        """Keys of the configuration that the agent holds, other keys of the configuration, then the agent's rest."""
        held = list(agent.get_keys()) if agent is not None else []
        named = [_public_blob(path) for path in self._config.keys]
        yield from (key for key in held if key.asbytes() in named)
        yield from (key for path in self._config.keys if (key := self._from_file(path)) is not None)
        if not self._config.only_these_keys:
            yield from (key for key in held if key.asbytes() not in named)

    def _from_file(self, path: Path) -> PKey | None:
        if not path.is_file():
            return None
        try:
            return PKey.from_path(path)
        except TypeError:  # what `cryptography` raises for a key that needs a passphrase
            self._locked.append(path)
        except (OSError, ValueError, SSHException, UnknownKeyType, UnsupportedAlgorithm):
            pass  # a public half, or a kind of key that paramiko does not know: another one may do
        return None

    def _unlocked(self, path: Path) -> PKey | None:
        if self._ask is None:
            raise AssertionError("asked only where somebody can be asked")
        passphrase = self._ask(f"passphrase of {path}: ").encode()
        try:
            return PKey.from_path(path, passphrase)  # type: ignore[arg-type]  # paramiko 5.1 hands it on as it is
        except (ValueError, SSHException) as error:
            raise UserError(f"That is not the passphrase of {path}.", "Try again, or use ssh-add.") from error

    def _accepted(self, key: PKey | None) -> bool:
        if key is None:
            return False
        self._tried += 1
        try:
            further = self._transport.auth_publickey(self._config.user, key)
        except BadAuthenticationType as error:
            raise self._refused(f"{self._config.alias} takes no keys, only {', '.join(error.allowed_types)}") from error
        except AuthenticationException as error:
            if self._transport.is_active():
                return False
            raise self._hung_up(error) from error
        except (SSHException, EOFError, OSError) as error:
            raise self._hung_up(error) from error
        if further:
            raise self._refused(f"{self._config.alias} wants a second proof ({', '.join(further)})")
        return True

    def _hung_up(self, error: BaseException) -> UserError:
        """paramiko tells a lost connection and a host that takes no further key with the same words."""
        why = str(error) or "it hung up"
        alias = self._config.alias
        return UserError(
            f"{alias} ended the log-in at key {self._tried}: {why.rstrip('.')}.",
            f"The connection broke off, or {alias} lets nobody try more keys: try again, name the right one as "
            f"IdentityFile; `ssh -v {alias}` shows more.",
            ExitStatus.FAILURE,
        )

    def _refusal(self) -> UserError:
        if self._locked and self._ask is None:
            return self._refused(f"{self._locked[0]} needs its passphrase, and nobody is there to type it")
        keys = "1 key" if self._tried == 1 else f"{self._tried} keys"
        return self._refused(f"{self._config.alias} lets {self._config.user} in with none of {keys}")

    def _refused(self, wrong: str) -> UserError:
        return UserError(
            f"{wrong}.",
            f"Load the right key with ssh-add, or name it as IdentityFile; `ssh -v {self._config.alias}` shows more.",
            ExitStatus.FAILURE,
        )


def _public_blob(path: Path) -> bytes:
    """The public half that lies beside a key; empty where there is none."""
    try:
        words = path.with_name(f"{path.name}.pub").read_text(encoding="utf-8", errors="replace").split()
        return base64.b64decode(words[1], validate=True)
    except (OSError, IndexError, binascii.Error):
        return b""
