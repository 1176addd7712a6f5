"""One HTTP POST with the standard library: one connection, no retries, a deadline over everything, a bounded answer.

A socket's timeout begins anew with each byte that arrives, so a server that drips holds a caller as long as it likes.
Here every read and write gets what is left of one deadline: name lookup, connecting, TLS, head and body.

What reads the answer, `http.client` and with it the `email` package, is loaded when the request is on its way: that
takes a cold process as long as everything before, and the server needs longer still.
"""

from __future__ import annotations

import io
import socket
from _thread import allocate_lock, start_new_thread
from contextlib import closing
from urllib.parse import urlsplit

from engine.errors import ProviderHttpError, ProviderTimeoutError
from engine.judge.deadline import Deadline
from engine.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping
    from typing import Any
    from urllib.parse import SplitResult

ANSWER_BYTES = 1_000_000
"""An answer of a judge has under ten thousand."""

PORTS = {"http": 80, "https": 443}


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
        target = urlsplit(url)
        host = target.hostname or host
        request = _head(target, headers, len(body)) + body
        with closing(_opened(target, deadline)) as connection:
            connection.sendall(request)
            from engine.judge.providers.http_answer import read_response

            return read_response(connection)
    except TimeoutError:
        raise ProviderTimeoutError(f"No answer within {timeout_s:g} s.") from None
    except OSError as error:
        raise no_connection(host, error) from None
    except ValueError:
        raise ProviderHttpError("The request cannot be sent. Check base URL and key for stray characters.") from None


def no_connection(host: str, cause: Exception) -> ProviderHttpError:
    return ProviderHttpError(f"No connection to {host} ({type(cause).__name__}). Check the network.")


def too_large() -> ProviderHttpError:
    return ProviderHttpError(f"The API's answer is larger than {ANSWER_BYTES // 1000:,} kB.")


def seconds(header: str | None) -> float | None:
    """What a `retry-after` header says, where it names a number of seconds."""
    return float(header) if header and header.isascii() and header.isdecimal() and len(header) < 7 else None


class TimedSocket:
    """A socket of which each step is within the deadline, as far as `http.client` needs one."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(self._deadline.check())
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - it is always "rb"
        return io.BufferedReader(_TimedReader(self._sock, self._deadline))

    def close(self) -> None:
        self._sock.close()


class _TimedReader(io.RawIOBase):
    """What arrives on a socket, which stays open until this is closed, too."""

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


def _head(target: SplitResult, headers: Mapping[str, str], size: int) -> bytes:
    """The request's head. ValueError for what cannot stand in one."""
    given = {"host": target.netloc.rpartition("@")[2], **headers, "accept-encoding": "identity", "connection": "close"}
    lines = [f"POST {target.path or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    lines.append(f"content-length: {size}")
    if target.scheme not in PORTS or " " in target.path + target.netloc:
        raise ValueError("the URL")
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a line of the head")
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _opened(target: SplitResult, deadline: Deadline) -> TimedSocket:
    """A connection to the URL's host, over TLS where the URL says so."""
    host = target.hostname or ""
    context = _Later(_tls_context) if target.scheme == "https" else None
    sock = _connected(host, target.port or PORTS[target.scheme], deadline)
    try:
        if context:
            found: ssl.SSLContext = context.result(deadline)
            sock.settimeout(deadline.check())
            sock = found.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise
    return TimedSocket(sock, deadline)


def _tls_context() -> ssl.SSLContext:
    import ssl

    return ssl.create_default_context()


def _connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A socket connected to the first address that answers; each may take its share of the time that is left."""
    addresses = _Later(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)).result(deadline)
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.check() / (len(addresses) - number))
            sock.connect(address)
        except BaseException as error:
            sock.close()
            if number == len(addresses) - 1 or not isinstance(error, OSError):
                raise
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise OSError("no address")


class _Later:
    """A call in a thread of its own: one that may hang, as a name lookup does for half a minute where no name server
    answers, or one that has something to do meanwhile, as reading the system's certificates has.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._outcome: tuple[Any, Exception | None] = (None, None)
        self._done = allocate_lock()
        self._done.acquire()
        start_new_thread(self._run, ())

    def result(self, deadline: Deadline) -> Any:
        """What the call returned or raised; TimeoutError if it takes longer than the deadline."""
        if not self._done.acquire(timeout=deadline.check()):
            raise TimeoutError
        value, error = self._outcome
        if error:
            raise error
        return value

    def _run(self) -> None:
        try:
            self._outcome = (self._call(), None)
        except Exception as error:  # noqa: BLE001 - raised in the thread that asks for the result
            self._outcome = (None, error)
        finally:
            self._done.release()
