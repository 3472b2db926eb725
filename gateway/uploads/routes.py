"""The routes of uploads, of stored pictures, and of files with users' own data."""

from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Route

from datasources.protocols import Stores
from gateway.settings import Settings
from gateway.uploads.addresses import EXPORTS, PICTURES, UPLOADS, Addresses
from gateway.uploads.exports import Exports
from gateway.uploads.receiving import Receiving
from gateway.uploads.serving import Serving


def routes(stores: Stores, addresses: Addresses, settings: Settings) -> list[BaseRoute]:
    """None without a store of pictures. Pages of the allowed origins may upload, too."""
    store = stores.pictures
    if store is None:
        return []
    receiving = Route(
        UPLOADS + "{name}", Receiving(stores, store, addresses).answer, methods=["PUT"]
    )
    if settings.http.allowed_origins:
        receiving.app = CORSMiddleware(
            receiving.app,
            allow_origins=settings.http.allowed_origins,
            allow_methods=["PUT"],
            allow_headers=settings.http.allowed_headers,
            max_age=7200,
        )
        receiving.methods = {"PUT", "OPTIONS"}
    return [
        receiving,
        Route(PICTURES + "{name:path}", Serving(store).answer),
        Route(EXPORTS + "{name}", Exports(stores, addresses).answer),
    ]
