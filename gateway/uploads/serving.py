"""Answers the GET of a stored picture. A picture under a name never changes: caches may keep it."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from datasources.errors import StoreError
from datasources.protocols import PictureStore
from gateway.uploads.addresses import stored

log = logging.getLogger("pinway.uploads")
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
    "x-content-type-options": "nosniff",
}


class Serving:
    """The endpoint of `/images/uploads/{name}`."""

    def __init__(self, store: PictureStore) -> None:
        self._store = store

    async def answer(self, request: Request) -> Response:
        name = stored(request.path_params["name"])
        etag = f'"{name}"'
        if name is None:
            raise HTTPException(404)
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=_HEADERS | {"etag": etag})
        try:
            content = await self._store.get(name)
        except StoreError as error:
            log.warning("a picture could not be read: %s", error)
            raise HTTPException(503, "pictures can't be read now: try again") from None
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type="image/webp", headers=_HEADERS | {"etag": etag})
