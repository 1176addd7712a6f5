"""HTTP POST with the standard library: one connection per request, no retries, a deadline, a bounded answer."""

from __future__ import annotations

from http.client import BadStatusLine, HTTPException, IncompleteRead
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, getproxies

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPResponse

    from engine.errors import ProviderError

ANSWER_BYTES = 1_000_000
"""The largest answer that is read. A judge's answer has less than 10 kB."""


class HttpResponse(Record):
    """A server's answer. `retry_after_s` is None unless the server named a number of seconds."""

    status: int
    content: bytes
    retry_after_s: float | None = None


def post(url: str, headers: Mapping[str, str], body: bytes, timeout_s: float) -> HttpResponse:
    """The answer to *body*, whatever its status. Redirects are not followed: they would carry the key elsewhere.

    *timeout_s* bounds each step alone: `Calls` bounds their sum. Proxies are those of the process's environment
    (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY). Raises ProviderTimeoutError, or ProviderHttpError for no connection,
    a cut or an oversized answer, or a URL or header that cannot be sent. No message holds a header: the key is one.
    """
    host = "the API"
    try:
        target = urlsplit(url)
        host = target.hostname or host
        sendable = all(value.isascii() and value.isprintable() for value in headers.values())
        if not (sendable and target.hostname and target.scheme in ("http", "https")):
            raise ValueError("a header or the URL")
        address = target._replace(netloc=target.netloc.rpartition("@")[2]).geturl()
        with _opener().open(Request(address, body, dict(headers)), timeout=timeout_s) as response:
            return _read(response)
    except (OSError, IncompleteRead, BadStatusLine) as error:
        raise _no_connection(host, error, timeout_s) from None
    except (HTTPException, ValueError, OverflowError):
        raise ProviderHttpError("The request cannot be sent. Check base URL and key for stray characters.") from None


def too_large() -> ProviderHttpError:
    return ProviderHttpError(f"The API's answer is larger than {ANSWER_BYTES // 1000:,} kB.")


def seconds(header: str | None) -> float | None:
    """The number of seconds in a `retry-after` header, if it holds one."""
    return float(header) if header and header.isascii() and header.isdecimal() and len(header) < 7 else None


def _opener() -> OpenerDirector:
    """Without the usual handlers, which follow redirects and raise an error for a status other than 200."""
    proxies = getproxies()
    if "all" in proxies:
        proxies = {"http": proxies["all"], "https": proxies["all"], **proxies}
    opener = OpenerDirector()
    opener.addheaders = []
    for handler in (ProxyHandler(proxies), HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    return opener


def _read(response: HTTPResponse) -> HttpResponse:
    content = response.read(ANSWER_BYTES + 1)
    if len(content) > ANSWER_BYTES:
        raise too_large()
    if response.length:
        raise IncompleteRead(content, response.length)
    return HttpResponse(response.status, content, seconds(response.getheader("retry-after")))


def _no_connection(host: str, error: Exception, timeout_s: float) -> ProviderError:
    reason = getattr(error, "reason", error)  # an URLError holds the error of the socket
    if isinstance(reason, TimeoutError):
        return ProviderTimeoutError(f"No answer within {timeout_s:g} s.")
    if "Tunnel connection failed" in str(reason):
        return ProviderHttpError(f"The proxy does not connect to {host}. Check HTTPS_PROXY.")
    return ProviderHttpError(f"No connection to {host} ({type(reason).__name__}). Check the network.")
