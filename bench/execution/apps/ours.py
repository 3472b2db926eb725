"""Ours: the gateway's endpoint and executor over the home feed's schema. BENCH_BULK=1 adds bulk
resolvers.

It includes everything that a request passes in the gateway (media types, limits, the deadline), and
the gateway's settings of the garbage collector. A token is not verified: its text has the viewer's
id. Nobody has blocked anybody, and no account is closed: both are known without a read.
"""

from typing import Any, cast

from starlette.responses import Response

from bench.execution.feed import build, our_context, viewer_of
from gateway.execution.collector import short_passes
from gateway.http.auth import Token, Tokens
from gateway.http.endpoint import Front, GraphQLEndpoint
from gateway.observe.answers import Served
from gateway.settings import Settings
from gateway.site.executors import executor_of


class _Viewers:
    def read(self, authorization: str) -> Token:
        return Token(viewer_of(authorization), issued=0, expires=0)


endpoint = GraphQLEndpoint(
    executor_of(build(), Settings()),
    cast(Tokens, _Viewers()),
    cast(Any, our_context),
    max_body_bytes=1_000_000,
    served=Served(),
)
app = Front(endpoint, Response(status_code=404))
_passes = short_passes()
_passes.__enter__()  # as `pinway serve` does after its start
