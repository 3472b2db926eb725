"""Signs up users, changes their profiles and names, and deletes accounts."""

from datetime import UTC, datetime, timedelta
from functools import partial
from math import ceil

from datasources.errors import BadInput, Forbidden, RateLimited
from feed_engine.transactions import blocks
from feed_engine.transactions.inputs import (
    Deletion,
    EmailChange,
    NameChange,
    NewUser,
    ProfileChange,
    SubjectChange,
)
from feed_engine.writes import accounts, data_exports, keys, users
from resolvers import nodes
from resolvers.context import Context
from resolvers.mutations.images import stored_image
from resolvers.mutations.inputs import (
    ChangeEmail,
    ChangeUserName,
    DeleteAccount,
    LinkSubject,
    RequestMyData,
    SignUp,
    UnlinkSubject,
    UpdateProfile,
)
from resolvers.mutations.payloads import (
    ChangeEmailPayload,
    ChangeUserNamePayload,
    DeleteAccountPayload,
    LinkSubjectPayload,
    RequestMyDataPayload,
    SignUpPayload,
    UnlinkSubjectPayload,
    UpdateProfilePayload,
)
from resolvers.payloads import mutation

TOKEN_FOR = timedelta(minutes=15)
"""The time for which a repeated sign-up gets a token: long enough after a lost answer, and too
short for somebody who learns or guesses an old key."""


@mutation
async def sign_up(context: Context, input: SignUp) -> SignUpPayload:
    """Create a user, and issue a token. Only requests without a viewer may sign up: if new accounts
    could create accounts, each would add a rate limit of its own. A subject without a user keeps
    its token; if it has a user by now, the sign-up is repeated."""
    if context.viewer_id is not None and not context.subject:
        raise Forbidden("you are signed in: sign up without the Authorization header")
    if context.signing_up is not None and (seconds := await context.signing_up()):
        raise RateLimited(
            "this address has made as many accounts as it may for now: sign up again in "
            f"{ceil(seconds)} s"
        )
    draft = NewUser(username=input.username, full_name=input.full_name, about=input.about)
    user = await users.sign_up(
        context.stores, draft, subject=context.subject or None, key=input.idempotency_key
    )
    if context.subject:
        return SignUpPayload(user=user)
    is_new = datetime.now(UTC) - nodes.created_at(context, user) < TOKEN_FOR
    if is_new and input.idempotency_key:  # perhaps an old sign-up is sent again
        is_new = not (await blocks.read(context.stores, user.id)).signed_out
    return SignUpPayload(user=user, token=context.issue_token(user.id) if is_new else None)


@mutation
async def update_profile(context: Context, input: UpdateProfile) -> UpdateProfilePayload:
    given = input.given()
    if "avatar" in given:
        given["avatar"] = stored_image(given["avatar"])
    user = await users.update_profile(
        context.stores, context.require_viewer(), ProfileChange(**given), key=input.idempotency_key
    )
    return UpdateProfilePayload(user=user)


@mutation
async def change_user_name(context: Context, input: ChangeUserName) -> ChangeUserNamePayload:
    user = await keys.change_user_name(
        context.stores,
        context.require_viewer(),
        NameChange(username=input.username),
        key=input.idempotency_key,
    )
    return ChangeUserNamePayload(user=user)


@mutation
async def change_email(context: Context, input: ChangeEmail) -> ChangeEmailPayload:
    user = await keys.change_email(
        context.stores,
        context.require_viewer(),
        EmailChange(email=input.email),
        key=input.idempotency_key,
    )
    return ChangeEmailPayload(user=user)


@mutation
async def link_subject(context: Context, input: LinkSubject) -> LinkSubjectPayload:
    """Let the viewer sign in by the tokens of a subject, which the input proves with a token."""
    viewer_id = context.require_viewer()
    if context.subject_of is None:
        raise BadInput("This server takes no subjects of other issuers.", "token")
    subject = await context.subject_of(input.token)
    user = await keys.change_subject(
        context.stores, viewer_id, SubjectChange(subject=subject), key=input.idempotency_key
    )
    return LinkSubjectPayload(user=user)


@mutation
async def unlink_subject(context: Context, input: UnlinkSubject) -> UnlinkSubjectPayload:
    """Let the viewer sign in by no subject. A viewer who is signed in by the subject would lose the
    account with it."""
    viewer_id = context.require_viewer()
    if context.subject:
        raise Forbidden("you are signed in by this subject: unlink it with a token of signUp")
    user = await keys.change_subject(
        context.stores, viewer_id, SubjectChange(subject=None), key=input.idempotency_key
    )
    return UnlinkSubjectPayload(user=user)


@mutation
async def request_my_data(context: Context, input: RequestMyData) -> RequestMyDataPayload:
    """Request a file with the viewer's own data."""
    viewer_id = context.require_viewer()
    if context.sign_export is None:
        raise BadInput("This gateway keeps no files: ask its operators for your data.")
    user = await data_exports.request_my_data(context.stores, viewer_id, key=input.idempotency_key)
    return RequestMyDataPayload(user=user)


@partial(mutation, of_deleted=True)
async def delete_account(context: Context, input: DeleteAccount) -> DeleteAccountPayload:
    """Delete the viewer's account. After a lost answer, the same account may ask again."""
    viewer_id = context.require_viewer()
    context.deleting = True
    given = Deletion(username=input.username)
    await accounts.delete_account(context.stores, viewer_id, given, key=input.idempotency_key)
    return DeleteAccountPayload(deleted_user_id=str(viewer_id))
