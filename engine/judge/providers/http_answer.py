"""Reading an HTTP answer from a connection. Loading this loads `http.client`."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPException, HTTPResponse, IncompleteRead

from engine.judge.providers.http_post import ANSWER_BYTES, HttpResponse, seconds, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BrokenAnswerError(ConnectionError):
    """What arrived is no HTTP, or stopped too early."""


def read_response(connection: Any) -> HttpResponse:
    """The answer on *connection*, of which `makefile` is used. Raises TimeoutError, another OSError where it is broken,
    or ProviderHttpError where it is too large."""
    try:
        with closing(HTTPResponse(connection, method="POST")) as response:
            response.begin()
            content = response.read(ANSWER_BYTES + 1)
            if len(content) > ANSWER_BYTES:
                raise too_large()
            if response.length:
                raise IncompleteRead(content, response.length)
            return HttpResponse(response.status, content, seconds(response.getheader("retry-after")))
    except (HTTPException, ValueError) as error:
        if isinstance(error, OSError):
            raise  # the server hung up
        raise BrokenAnswerError from None
