"""One HTTP POST with the standard library: one connection, no retries, a deadline over everything, a bounded answer.

A socket's timeout begins anew with each byte that arrives, so a server that drips holds a caller as long as it likes.
Here every read and write gets what is left of one deadline: name lookup, connecting, TLS, head and body.

What reads the answer, `http.client` and with it the `email` package, is loaded when the request is on its way: that
takes a cold process as long as everything before, and the server needs longer still.
"""

from __future__ import annotations

from contextlib import closing
from urllib.parse import urlsplit

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.deadline import Deadline
from engine.judge.providers.connection import PORTS, head_lines, opened
from engine.judge.providers.proxy import proxy_for
from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from engine.judge.providers.proxy import Proxy

ANSWER_BYTES = 1_000_000
"""An answer of a judge has under ten thousand."""


class HttpResponse(Record):
    """What a server answered. `retry_after_s` is None unless the server named a number of seconds."""

    status: int
    content: bytes
    retry_after_s: float | None = None


def post(
    url: str, headers: Mapping[str, str], body: bytes, timeout_s: float, environ: Mapping[str, str]
) -> HttpResponse:
    """The answer to *body*, whatever its status. *timeout_s* is wall time over the whole exchange.

    *environ* names the proxy, if there is one; nothing else in it matters here. Raises ProviderTimeoutError, or
    ProviderHttpError for no connection, a cut or an oversized answer, or a URL or a header that cannot be sent. No
    message holds a header: one of them is the key.
    """
    deadline = Deadline(timeout_s)
    host = "the API"
    try:
        target = urlsplit(url)
        host = target.hostname or host
        proxy = proxy_for(target.scheme, host, environ)
        request = _head(target, headers, len(body), proxy) + body
        with closing(opened(target, proxy, deadline)) as connection:
            connection.sendall(request)
            from engine.judge.providers.http_answer import read_response

            return read_response(connection)
    except TimeoutError:
        raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
    except OSError as error:
        raise ProviderHttpError(f"No connection to {host} ({type(error).__name__}). Check the network.") from None
    except ValueError:
        raise ProviderHttpError("The request cannot be sent. Check base URL and key for stray characters.") from None


def too_large() -> ProviderHttpError:
    return ProviderHttpError(f"The API's answer is larger than {ANSWER_BYTES // 1000:,} kB.")


def seconds(header: str | None) -> float | None:
    """What a `retry-after` header says, where it names a number of seconds."""
    return float(header) if header and header.isascii() and header.isdecimal() and len(header) < 7 else None


def _head(target: SplitResult, headers: Mapping[str, str], size: int, proxy: Proxy | None) -> bytes:
    """The request's head. ValueError for what cannot stand in one."""
    if target.scheme not in PORTS or " " in target.path + target.netloc:
        raise ValueError("the URL")
    host, path = target.netloc.rpartition("@")[2], target.path or "/"
    given = {"host": host, **headers, "accept-encoding": "identity", "connection": "close", "content-length": str(size)}
    if proxy and target.scheme == "http":
        path = f"http://{host}{path}"
        given |= proxy.headers
    return head_lines(f"POST {path} HTTP/1.1", given)
