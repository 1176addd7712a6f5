"""HTTP with the standard library: one connection per request, no retries, a deadline, a bounded answer."""

from __future__ import annotations

from contextlib import suppress
from http.client import BadStatusLine, HTTPException, IncompleteRead
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, getproxies

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from http.client import HTTPResponse

ANSWER_BYTES = 1_000_000
"""The largest answer that is read. A judge's answer has less than 10 kB."""

FORMS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""The compressions that are read, and the argument of zlib for each."""


class HttpResponse(Record):
    """A server's answer. `retry_after_s` is None unless the server named a number of seconds."""

    status: int
    content: bytes
    retry_after_s: float | None = None


def post(url: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float) -> HttpResponse:
    """The answer to *body*, whatever its status. Without a body, the request is a GET.

    Redirects are not followed: they would carry the key elsewhere. *timeout_s* bounds each step alone: `ChatServer`
    bounds their sum. Proxies are those of the process's environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY).
    Raises ProviderTimeoutError, or ProviderHttpError for no connection, a cut or oversized answer, or a URL or header
    that cannot be sent. No message holds a header: the key is one.
    """
    try:
        target = urlsplit(url)
        sendable = all(value.isascii() and value.isprintable() for value in headers.values())
        if not (sendable and target.hostname and target.scheme in ("http", "https")):
            raise ValueError("a header or the URL")
        address = target._replace(netloc=target.netloc.rpartition("@")[2]).geturl()
        with _opener().open(Request(address, body, dict(headers)), timeout=timeout_s) as response:
            return _read(response)
    except (OSError, IncompleteRead, BadStatusLine) as error:
        reason = getattr(error, "reason", error)  # an URLError holds the error of the socket
        if isinstance(reason, TimeoutError):
            raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
        if "Tunnel connection failed" in str(reason):
            host = urlsplit(url).hostname
            raise ProviderHttpError(f"The proxy does not connect to {host}. Check HTTPS_PROXY.") from None
        raise no_connection(url, reason) from None
    except (HTTPException, ValueError, OverflowError):
        raise ProviderHttpError("The request cannot be sent. Check base URL and key for stray characters.") from None


def below(base: str, path: str) -> str:
    """The address of *path*, such as "/v1/messages", at the server *base*. *base* may have a query, or end with "/v1"
    or the whole path."""
    head, mark, query = base.partition("?")
    head, parts = head.rstrip("/"), path.split("/")[1:]
    present = next((size for size in range(len(parts), 0, -1) if head.endswith("/" + "/".join(parts[:size]))), 0)
    return "".join((head, *(f"/{part}" for part in parts[present:]), mark, query))


def shown(url: str) -> str:
    """*url* for people: without name and password, and without its query, which may hold a key."""
    scheme, slashes, rest = url.partition("?")[0].partition("://")
    host, slash, path = rest.partition("/")
    return "".join((scheme, slashes, host.rpartition("@")[2], slash, path))


def too_large() -> ProviderHttpError:
    return ProviderHttpError(f"The API's answer is larger than {ANSWER_BYTES // 1000:,} kB.")


def unpacked(content: bytes, encoding: str | None) -> bytes:
    """*content* without its compression. *encoding* is the header `content-encoding`.

    No compression is asked for, but a gateway may compress all the same. Raises ProviderHttpError for an answer that
    unpacks to more than ANSWER_BYTES (one MB may hold a GB), is cut or damaged, or in a compression not known here.
    """
    name = (encoding or "identity").strip().lower()
    if name == "identity":
        return content
    if name not in FORMS:
        raise ProviderHttpError(f"The API's answer is compressed in a way not known here: {name[:20]!a}.")
    import zlib

    unpacker, plain = zlib.decompressobj(FORMS[name]), b""
    with suppress(zlib.error):
        plain = unpacker.decompress(content, ANSWER_BYTES + 1)
    if len(plain) > ANSWER_BYTES:
        raise too_large()
    if not unpacker.eof:
        raise ProviderHttpError(f"The API's answer is cut or damaged: it is not the {name} data that it says.")
    return plain


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
    plain = unpacked(content, response.getheader("content-encoding"))
    return HttpResponse(response.status, plain, seconds(response.getheader("retry-after")))


def no_connection(url: str, reason: object) -> ProviderHttpError:
    return ProviderHttpError(f"No connection to {shown(url)} ({type(reason).__name__}). Check address and network.")
