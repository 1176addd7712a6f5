"""One HTTP POST with the standard library: one connection, no retries, a deadline over everything, a bounded answer.

A socket's timeout begins anew with each byte that arrives, so a server that drips holds a caller as long as it likes.
Here every read and write gets what is left of one deadline: name lookup, connecting, TLS, head and body.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from _thread import allocate_lock, start_new_thread
from contextlib import closing
from urllib.parse import urlsplit

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.deadline import Deadline
from engine.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ANSWER_BYTES = 1_000_000
"""An answer of a judge has under ten thousand."""


@record
class HttpResponse:
    """What a server answered. `retry_after_s` is None unless the server named a number of seconds."""

    status: int
    content: bytes
    retry_after_s: float | None = None


def post(url: str, headers: Mapping[str, str], body: bytes, timeout_s: float) -> HttpResponse:
    """The answer to *body*, whatever its status. *timeout_s* is wall time over the whole exchange.

    Raises ProviderTimeoutError, or ProviderHttpError for no connection, a cut or an oversized answer, or a URL or a
    header that cannot be sent. No message holds a header: one of them is the key.
    """
    deadline = Deadline(timeout_s)
    host = "the API"
    try:
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise ValueError("a header")
        target = urlsplit(url)
        host = target.hostname or host
        with closing(_Connection(host, target.port, target.scheme, deadline)) as connection:
            connection.request("POST", target.path or "/", body, dict(headers))
            with closing(connection.getresponse()) as response:
                return HttpResponse(response.status, _content(response), seconds(response.getheader("retry-after")))
    except TimeoutError:
        raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
    except (OSError, http.client.HTTPException) as error:
        raise ProviderHttpError(f"No connection to {host} ({type(error).__name__}). Check the network.") from None
    except ValueError:
        raise ProviderHttpError("The request cannot be sent. Check base URL and key for stray characters.") from None


def _content(response: http.client.HTTPResponse) -> bytes:
    content = response.read(ANSWER_BYTES + 1)
    if len(content) > ANSWER_BYTES:
        raise too_large()
    if response.length:
        raise http.client.IncompleteRead(content, response.length)
    return content


def too_large() -> ProviderHttpError:
    return ProviderHttpError(f"The API's answer is larger than {ANSWER_BYTES // 1000:,} kB.")


def seconds(header: str | None) -> float | None:
    """What a `retry-after` header says, where it names a number of seconds."""
    return float(header) if header and header.isascii() and header.isdecimal() and len(header) < 7 else None


class _Connection(http.client.HTTPConnection):
    """A connection whose socket knows the deadline. *scheme* is "http" or "https"; ValueError for another."""

    def __init__(self, host: str, port: int | None, scheme: str, deadline: Deadline) -> None:
        if scheme not in ("http", "https"):
            raise ValueError(scheme)
        super().__init__(host, port or (443 if scheme == "https" else 80))
        self._scheme = scheme
        self._deadline = deadline

    def connect(self) -> None:
        plain = _connected(self.host, self.port, self._deadline)
        try:
            plain.settimeout(self._deadline.check())
            found = self._secured(plain) if self._scheme == "https" else plain
        except BaseException:
            plain.close()
            raise
        self.sock = _TimedSocket(found, self._deadline)

    def _secured(self, plain: socket.socket) -> socket.socket:
        return ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)


class _TimedSocket:
    """What `http.client` needs of a socket, each step within the deadline."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: Any) -> None:
        self._sock.settimeout(self._deadline.check())
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - it is always "rb"
        return io.BufferedReader(_TimedReader(self._sock, self._deadline))

    def close(self) -> None:
        self._sock.close()


class _TimedReader(io.RawIOBase):
    """What arrives on a socket, which stays open until this is closed, even where `http.client` closes it before."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._arriving = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._deadline.check())
        return self._arriving.readinto(buffer)

    def close(self) -> None:
        self._arriving.close()
        super().close()


def _connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A socket connected to the first address that answers; each may take its share of the time that is left."""
    addresses = _addresses(host, port, deadline)
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.check() / (len(addresses) - number))
            sock.connect(address)
        except OSError:
            sock.close()
            if number == len(addresses) - 1:
                raise
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise OSError("no address")


def _addresses(host: str, port: int, deadline: Deadline) -> list[Any]:
    """What the name resolves to. In a thread: a lookup takes half a minute where no name server answers."""
    found: list[Any] = []
    done = allocate_lock()
    done.acquire()

    def look_up() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # noqa: BLE001 - raised below, in the thread that asked
            found.append(error)
        finally:
            done.release()

    start_new_thread(look_up, ())
    if not done.acquire(timeout=deadline.check()):
        raise TimeoutError
    (result,) = found
    if isinstance(result, Exception):
        raise result
    return list(result)
