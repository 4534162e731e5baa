"""Where a server's HTTP is reached: address, keys, and the way there in words."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

from ppagent.errors import UserError

_KEY_ADVICE = "Write it as http://HOST:PORT, and give keys through the environment, not in the address."


@dataclass(frozen=True)
class Endpoint:
    """One server's HTTP. `path` is a prefix behind a proxy, usually empty.

    `headers` go with every request, `admin_headers` with those that change something (SGLang 0.5.8+ keeps an admin key
    of its own: `srt/utils/auth.py`). `recognised_by` is how its certificate is known where the address does not tell,
    and `server_name` whom it must be for then; empty where `recognised_by` holds the very certificate.
    """

    scheme: str
    host: str
    port: int
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    admin_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    route: str = ""
    recognised_by: ssl.SSLContext | None = field(default=None, repr=False, compare=False)
    server_name: str = ""
    told: str = ""
    """What it is called in words where its address is only the near end of a tunnel."""

    @property
    def shown(self) -> str:
        """The address that a person knows it by."""
        return self.told or self.base_url

    @property
    def base_url(self) -> str:
        """The address without a slash at its end; it holds no key."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def name(self) -> str:
        """What the server goes by: its address, one and the same for every way to write this machine."""
        return f"{self.scheme}://127.0.0.1:{self.port}{self.path}" if self.route == "loopback" else self.base_url

    @property
    def authority(self) -> str:
        """Host and port as the Host header wants them."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{name}:{self.port}"

    @cached_property
    def tls(self) -> ssl.SSLContext | None:
        """The TLS context; None for plain HTTP. It is made once: reading the authorities takes tens of milliseconds."""
        if self.scheme != "https":
            return None
        return self.recognised_by or ssl.create_default_context()

    @property
    def tls_name(self) -> str:
        """Whom its certificate must be for; empty where the certificate itself is known."""
        return self.host if self.recognised_by is None else self.server_name


def is_url(text: str) -> bool:
    """Whether a target is named by its address."""
    return text.startswith(("http://", "https://"))


def parse_endpoint(url: str, keys: Mapping[str, str] | None = None) -> Endpoint:
    """The endpoint at `url`; `keys` is an environment with SGLANG_API_KEY and SGLANG_ADMIN_API_KEY.

    Raises UserError where it is no HTTP address, or holds a user name or key.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"{url} is no address: {error}.", _KEY_ADVICE) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{url} is no HTTP address.", _KEY_ADVICE)
    if parts.username or parts.password or parts.query:
        raise UserError("The address holds a user name, a password or a query.", _KEY_ADVICE)
    known = keys or {}
    api_key = known.get("SGLANG_API_KEY", "")
    admin_key = known.get("SGLANG_ADMIN_API_KEY", "") or api_key
    return Endpoint(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port or (443 if parts.scheme == "https" else 80),
        path=parts.path.rstrip("/"),
        headers=bearer(api_key),
        admin_headers=bearer(admin_key),
        route=_route(parts.hostname),
    )


def bearer(key: str) -> dict[str, str]:
    """The header that a key goes in; none for no key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def _route(host: str) -> str:
    """How the client gets there: results over different ways must not be compared."""
    if host == "localhost":
        return "loopback"
    try:
        return "loopback" if ip_address(host).is_loopback else f"network to {host}"
    except ValueError:
        return f"network to {host}"
