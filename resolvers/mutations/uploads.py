"""Begins the upload of a picture."""

from datetime import UTC, datetime

from datasources.errors import BadInput
from feed_engine import writes
from resolvers.context import Context
from resolvers.mutations import inputs, payloads
from resolvers.payloads import mutation


@mutation
async def create_upload(
    context: Context, input: inputs.CreateUpload
) -> payloads.CreateUploadPayload:
    viewer_id = context.require_viewer()
    if context.sign_upload is None:
        raise BadInput("This gateway takes no pictures: give the address of one.")
    upload = await writes.create_upload(context.stores, viewer_id, key=input.idempotency_key)
    address, expires = context.sign_upload(viewer_id, upload)
    return payloads.CreateUploadPayload(url=address, expires=datetime.fromtimestamp(expires, UTC))
