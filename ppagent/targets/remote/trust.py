"""By what the certificate of a server that speaks TLS is recognised."""

import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass

from ppagent.errors import ToolError
from ppagent.targets.remote.link import Link, run
from ppagent.targets.remote.servers import Server, option

READ_S = 10.0
_LARGEST = 1 << 20
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\s.*?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True)
class Trust:
    """A way to recognise it. `name` is who the server is asked to be; empty where its certificate itself is known."""

    context: ssl.SSLContext
    name: str = ""


def trusts(link: Link, server: Server) -> tuple[Trust, ...]:
    """The ways to recognise a server, the surest first.

    The connection begins on the server's own host, so that its certificate need not name an address: the very one in
    the file that the process was started with (`--ssl-certfile`, SGLang 0.5.10 on, `srt/server_args.py`) is looked for.
    Where that file cannot be read, or holds another one by now, the certificate must be for a name of the host, and of
    an authority that this machine trusts (`SSL_CERT_FILE` names another).
    """
    own = _own_certificate(link, server)
    by_name = trusts_by_name((option(server.launcher.cmdline, "--host"), *link.names))
    return (Trust(own), *by_name) if own is not None else by_name


def trusts_by_name(names: Iterable[str]) -> tuple[Trust, ...]:
    """The certificate must be for one of `names`."""
    known = dict.fromkeys(name.strip("[]") for name in names)
    context = ssl.create_default_context()
    return tuple(Trust(context, name) for name in known if name not in ("", "0.0.0.0", "::", "local"))


def _own_certificate(link: Link, server: Server) -> ssl.SSLContext | None:
    """Trust in the first certificate of the server's file and in no other; None where that cannot be read."""
    path = option(server.launcher.cmdline, "--ssl-certfile")
    if not path.startswith("/"):
        path = f"{server.launcher.cwd}/{path}"
    try:
        ran = run(link, [*server.enter, "cat", "--", path], timeout_s=READ_S, limit=_LARGEST)
    except ToolError:
        return None
    found = _CERTIFICATE.search(ran.text) if ran.ok else None
    if found is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=found[0])
    except ssl.SSLError:  # the file says it is one, and is none
        return None
    return context
