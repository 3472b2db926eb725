"""Answers the GET of the file with a user's own data (`feed_engine.own_data`), at a signed address.

The file is given while it is its owner's last one and its time is not over, and not at addresses
that were signed before its owner signed out everywhere.
"""

import logging
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from datasources.clocks import now_ms
from datasources.errors import NotFound, StoreError
from datasources.ids import Kind
from datasources.protocols import OpenedFile, Stores
from datasources.records import User
from feed_engine.own_data.requests import file_name, is_ready, requested
from feed_engine.times import moment
from feed_engine.transactions import access, blocks
from gateway.http.files import PART
from gateway.uploads.addresses import EXPORTS, LASTS, Addresses, Signed

log = logging.getLogger("pinway.uploads")
_PRIVATE = {"cache-control": "private, no-store", "x-content-type-options": "nosniff"}


class Exports:
    """The endpoint of `/exports/{name}`."""

    def __init__(self, stores: Stores, addresses: Addresses) -> None:
        self._stores, self._addresses = stores, addresses

    async def answer(self, request: Request) -> Response:
        signed = self._addresses.read(EXPORTS, request.path_params["name"])
        if signed is None:
            return _refused(404, "NOT_FOUND", "there is no such file: use the url of dataExport")
        if signed.expires < time.time():
            return _refused(410, "NOT_FOUND", "the url's time is over: read dataExport again")
        try:
            found = await self._open(signed)
        except StoreError as error:
            log.warning("a user's data could not be read: %s", error)
            return _refused(503, "UNAVAILABLE", "the file can't be read now: try again")
        if found is None:
            return _refused(410, "NOT_FOUND", "the file is gone: call requestMyData again")
        day = moment(signed.id).date()
        headers = _PRIVATE | {
            "content-disposition": f'attachment; filename="pinway-data-{day}.zip"',
            "content-length": str(found.size),
        }
        if request.method == "HEAD":
            return Response(headers=headers, media_type="application/zip")
        return StreamingResponse(_pieces(found), headers=headers, media_type="application/zip")

    async def _open(self, signed: Signed) -> OpenedFile | None:
        """The file, if its owner may have it now."""
        stores, owner_id = self._stores, signed.owner_id
        assert stores.pictures is not None
        try:
            access.home(stores, Kind.USER, owner_id)
            user = await access.recall(stores, User, owner_id)
        except NotFound:
            return None
        export = requested(user, signed.id)
        if export is None or not is_ready(export, now_ms()):
            return None
        if (await blocks.read(stores, owner_id)).refuses(signed.expires - LASTS):
            return None
        return await stores.pictures.open(file_name(owner_id, export.requested))


async def _pieces(file: OpenedFile) -> AsyncIterator[bytes]:
    """The content in pieces so small that a slow client reads each in the time for it."""
    async for part in file.parts:
        for at in range(0, len(part), PART):
            yield part[at : at + PART]


def _refused(status: int, code: str, message: str) -> Response:
    told = {"message": message, "extensions": {"code": code}}
    return JSONResponse({"errors": [told]}, status, _PRIVATE)
