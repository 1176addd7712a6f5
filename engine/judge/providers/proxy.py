"""The proxy that the environment names for a URL, as curl and the SDK read it: HTTPS_PROXY, HTTP_PROXY, NO_PROXY."""

from __future__ import annotations

from binascii import b2a_base64
from urllib.parse import unquote, urlsplit

from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Proxy(Record):
    """Where to connect instead. `authorization` is what it wants to see of its user; empty for nothing."""

    host: str
    port: int
    authorization: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What a request to it carries in addition."""
        return {"proxy-authorization": self.authorization} if self.authorization else {}


def proxy_for(scheme: str, host: str, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy on the way to *host*; None for a direct way. ValueError for one that does not speak HTTP."""
    named = _variable(f"{scheme}_proxy", environ) or _variable("all_proxy", environ)
    if not named or _is_exempt(host, _variable("no_proxy", environ)):
        return None
    url = urlsplit(named if "://" in named else f"http://{named}")
    if url.scheme != "http" or not url.hostname:
        raise ValueError("the proxy")
    user = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
    authorization = f"Basic {b2a_base64(user.encode(), newline=False).decode()}" if url.username else ""
    return Proxy(url.hostname, url.port or 80, authorization)


def _variable(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(name) or environ.get(name.upper()) or ""


def _is_exempt(host: str, no_proxy: str) -> bool:
    """Whether a part of *no_proxy* is the host, a domain that it lies in, or `*`."""
    parts = [part.strip().lower().lstrip(".") for part in no_proxy.split(",") if part.strip()]
    return any(part == "*" or host == part or host.endswith(f".{part}") for part in parts)
