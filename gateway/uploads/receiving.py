"""Answers the PUT of a picture to an upload's address.

An address takes one picture, and none after its owner signed out everywhere or deleted the account.
A record in the store binds it to the picture's content. The same picture may be sent again after a
lost answer. One picture at a time is decoded in a process, in a thread; others wait.
"""

import asyncio
import logging
import time

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from datasources.errors import StoreError
from datasources.protocols import PictureStore, Stores
from feed_engine.transactions import blocks
from feed_engine.writes.uploads import erase_pictures
from gateway.uploads.addresses import LASTS, PICTURES, UPLOADS, Addresses, Signed
from gateway.uploads.decoding import MOST_BYTES, Picture, WrongPicture, decode

log = logging.getLogger("pinway.uploads")


class Wrong(Exception):
    """An answer with an error: a status, a code and a message for the client."""

    def __init__(self, status: int, code: str, message: str) -> None:
        Exception.__init__(self, message)
        self.status, self.code = status, code


class Receiving:
    """The endpoint of `/uploads/{name}`."""

    def __init__(self, stores: Stores, store: PictureStore, addresses: Addresses) -> None:
        self._stores, self._store, self._addresses = stores, store, addresses
        self._one = asyncio.Semaphore(1)

    async def answer(self, request: Request) -> Response:
        try:
            upload = self._upload(request)
            await self._check_owner(upload)
            content = await _content(request)
            return JSONResponse(await self._stored(upload, content), 201)
        except Wrong as error:
            told = {"message": str(error), "extensions": {"code": error.code}}
            return JSONResponse({"errors": [told]}, error.status)
        except StoreError as error:
            log.warning("a picture could not be stored: %s", error)
            told = {"message": "the picture could not be stored: send it again"}
            return JSONResponse({"errors": [told | {"extensions": {"code": "UNAVAILABLE"}}]}, 503)

    def _upload(self, request: Request) -> Signed:
        upload = self._addresses.read(UPLOADS, request.path_params["name"])
        if upload is None:
            raise Wrong(404, "NOT_FOUND", "there is no such upload: use the url of createUpload")
        if upload.expires < time.time():
            raise Wrong(410, "NOT_FOUND", "the upload's time is over: call createUpload again")
        return upload

    async def _stored(self, upload: Signed, content: bytes) -> dict[str, str | int]:
        folder = self._addresses.folder(upload.owner_id, content)
        async with self._one:
            try:
                picture = await asyncio.to_thread(decode, content)
            except WrongPicture as error:
                raise Wrong(422, "BAD_USER_INPUT", str(error)) from None
        await self._bind(upload, folder)
        # The largest comes last: who finds it, finds all.
        for width in sorted(picture.sizes):
            await self._store.put(f"{folder}/{width}.webp", picture.sizes[width])
        await self._check_owner(upload)
        return _told(folder, picture)

    async def _check_owner(self, upload: Signed) -> None:
        """Raises Wrong if the owner has deleted the account, or signed out everywhere since the
        address was signed. Removes the pictures of a deleted account: its job may have ended before
        a picture was stored."""
        owner_id = upload.owner_id
        known = await blocks.read(self._stores, owner_id)
        is_deleted = known.closes(owner_id)
        if is_deleted:
            await erase_pictures(self._stores, owner_id)
        if is_deleted or known.refuses(upload.expires - LASTS):
            raise Wrong(410, "NOT_FOUND", "the upload's owner signed out: call createUpload again")

    async def _bind(self, upload: Signed, folder: str) -> None:
        """Bind the upload to a picture. Raises Wrong if it has another one."""
        name = f"{upload.owner_id}/uploads/{upload.id:x}"
        if await self._store.create(name, folder.encode()):
            return
        if await self._store.get(name) != folder.encode():
            raise Wrong(
                409, "CONFLICT", "this upload has another picture: call createUpload for each"
            )


async def _content(request: Request) -> bytes:
    """The body. Raises Wrong if it is empty or too large."""
    content = bytearray()
    try:
        async for part in request.stream():
            content += part
            if len(content) > MOST_BYTES:
                raise Wrong(
                    413, "BAD_USER_INPUT", f"the picture is larger than {MOST_BYTES:,} bytes"
                )
    except ClientDisconnect:
        raise Wrong(400, "BAD_USER_INPUT", "the picture did not arrive") from None
    if not content:
        raise Wrong(422, "BAD_USER_INPUT", "send the picture's bytes as the body of the request")
    return bytes(content)


def _told(folder: str, picture: Picture) -> dict[str, str | int]:
    """The picture as an ImageInput."""
    return {
        "url": f"{PICTURES}{folder}/{picture.width}.webp",
        "width": picture.width,
        "height": picture.height,
        "dominantColor": picture.color,
    }
