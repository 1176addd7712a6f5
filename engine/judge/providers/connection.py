"""A connection of which each step, from the name lookup to the last byte, is within one deadline."""

from __future__ import annotations

import io
import socket

from engine.judge.providers.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping
    from typing import Any
    from urllib.parse import SplitResult

    from engine.judge.deadline import Deadline
    from engine.judge.providers.proxy import Proxy

PORTS = {"http": 80, "https": 443}
HEAD_BYTES = 8_000
"""Of a proxy's answer."""


class ProxyRefusedError(ConnectionError):
    """The proxy does not connect us."""


class Connection:
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


def opened(target: SplitResult, proxy: Proxy | None, deadline: Deadline) -> Connection:
    """A connection to the URL's host, over TLS where the URL says so."""
    host, port = target.hostname or "", target.port or PORTS[target.scheme]
    context = Later(_tls_context) if target.scheme == "https" else None
    sock = _connected(proxy.host if proxy else host, proxy.port if proxy else port, deadline)
    try:
        if context:
            if proxy:
                _tunnel(sock, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", proxy, deadline)
            found: ssl.SSLContext = context.result(deadline)
            sock.settimeout(deadline.check())
            sock = found.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise
    return Connection(sock, deadline)


def _tunnel(sock: socket.socket, address: str, proxy: Proxy, deadline: Deadline) -> None:
    """Have *proxy*, at the other end, connect *sock* on to *address* (RFC 9110, 9.3.6)."""
    Connection(sock, deadline).sendall(head_lines(f"CONNECT {address} HTTP/1.1", {"host": address, **proxy.headers}))
    head = b""
    with _TimedReader(sock, deadline) as arriving:
        # Byte by byte, because what follows the empty line is TLS.
        while not head.endswith(b"\r\n\r\n") and len(head) < HEAD_BYTES:
            byte = arriving.read(1)
            if not byte:
                raise ConnectionResetError
            head += byte
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ProxyRefusedError


def _tls_context() -> ssl.SSLContext:
    import ssl

    return ssl.create_default_context()


def _connected(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A socket connected to the first address that answers; each may take its share of the time that is left."""
    addresses = Later(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)).result(deadline)
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


def head_lines(first: str, headers: Mapping[str, str]) -> bytes:
    """The head of a request. ValueError for what cannot stand in one."""
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise ValueError("a line of the head")
    return "\r\n".join([*lines, "", ""]).encode("ascii")
