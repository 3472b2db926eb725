"""Ends and renews the sessions of the viewer."""

import time
from datetime import UTC, datetime
from math import isinf

from datasources.errors import BadInput
from feed_engine.writes import sessions
from resolvers.context import Context
from resolvers.mutations.inputs import RefreshToken, SignOutEverywhere
from resolvers.mutations.payloads import RefreshTokenPayload, SignOutEverywherePayload
from resolvers.payloads import mutation


@mutation
async def sign_out_everywhere(
    context: Context, input: SignOutEverywhere
) -> SignOutEverywherePayload:
    viewer_id = context.require_viewer()
    await sessions.sign_out_everywhere(context.stores, viewer_id, key=input.idempotency_key)
    return SignOutEverywherePayload()


@mutation
async def refresh_token(context: Context, input: RefreshToken) -> RefreshTokenPayload:
    """Issue a token in place of a token that will expire. Idempotency keys are ignored: an answer
    that is lost does no harm."""
    viewer_id = context.require_viewer()
    if isinf(context.renewable):
        raise BadInput("The token is of another issuer: get a new one there.")
    if time.time() < context.renewable:
        at = datetime.fromtimestamp(context.renewable, UTC)
        raise BadInput(f"The token is still young: refresh it from {at:%Y-%m-%d %H:%M} UTC on.")
    token = await sessions.renew(
        context.stores, viewer_id, context.issued, lambda: context.issue_token(viewer_id)
    )
    return RefreshTokenPayload(token=token)
