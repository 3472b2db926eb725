"""Answers the GET of a stored picture. A picture under a name never changes: caches may keep it."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from datasources.errors import StoreError
from datasources.protocols import PictureStore
from gateway.http.files import PICTURE_HEADERS
from gateway.uploads.addresses import stored

log = logging.getLogger("pinway.uploads")


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
            return Response(status_code=304, headers=PICTURE_HEADERS | {"etag": etag})
        try:
            content = await self._store.get(name)
        except StoreError as error:
            log.warning("a picture could not be read: %s", error)
            raise HTTPException(503, "pictures can't be read now: try again") from None
        if content is None:
            raise HTTPException(404)
        return Response(content, media_type="image/webp", headers=PICTURE_HEADERS | {"etag": etag})
