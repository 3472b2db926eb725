"""Stock: strawberry's own ASGI view and aiodataloader; BENCH_CACHES=1 keeps parsed documents."""

import os
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.extensions import ParserCache, ValidationCache

from bench.execution.feed import build, stock_context, viewer_of

CACHES = (ParserCache, ValidationCache) if os.environ.get("BENCH_CACHES") == "1" else ()


class _View(GraphQL[Any, Any]):
    async def get_context(self, request: Any, response: Any = None) -> Any:
        return stock_context(viewer_of(request.headers["authorization"]))


app = Starlette(routes=[Route("/graphql", _View(build(CACHES)))])
