"""Users for operators: found by a key, in plain values, or with all their data in a file; the
index of their comments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from datasources.errors import BadInput, NotFound
from datasources.ids import Kind
from datasources.protocols import Stores
from datasources.records import User
from feed_engine.own_data.account import shown, told
from feed_engine.transactions import access, validation
from feed_engine.transactions.key_kinds import (
    EMAIL,
    SUBJECT,
    USERNAME,
    KeyKind,
    subject_key,
)
from feed_engine.writes import comment_index
from gateway.operate.imports.report import OnProgress, Progress
from gateway.operate.own_data import export_user
from gateway.settings import Settings
from resolvers.context import object_id


async def find_user(
    settings: Settings, stores: Stores, request: Mapping[str, Any]
) -> dict[str, Any]:
    """The user with an id, or with a key that the user has or that is kept for the user. A deleted
    account is found until it is erased. Raises NotFound, BadInput."""
    return told(await _find(settings, stores, request))


async def export_data(
    settings: Settings, stores: Stores, request: Mapping[str, Any], on_progress: OnProgress
) -> dict[str, Any]:
    """Write the data of such a user to a new file. Raises NotFound, BadInput, ConfigError."""
    user, path = await _find(settings, stores, request), Path(request["file"])
    lines = await export_user(stores, user, path, on_progress)
    return {"id": str(user.id), "file": str(path), "lines": lines}


async def index_of_comments(stores: Stores, on_progress: OnProgress) -> dict[str, Any]:
    """Complete the index of comments by author, while others read and write. Raises StoreError."""
    before = len(await comment_index.not_indexed(stores.shards))
    comments = await comment_index.index_comments(
        stores, lambda done: on_progress(Progress("Comments", done, None, "comments"))
    )
    return {"comments": comments, "shards": before}


async def _find(settings: Settings, stores: Stores, request: Mapping[str, Any]) -> User:
    if request["id"] is not None:
        id = object_id(request["id"], Kind.USER)
        access.home(stores, Kind.USER, id)
        return await access.recall(stores, User, id)
    kind, key = _key(settings, request)
    found = (await stores.shards.mod.find(kind.namespace, [key])).get(key)
    user = None if found is None else await access.recall(stores, User, found)
    if user is None or key not in kind.all_of(user):
        raise NotFound(f"there is no user with the {kind.namespace} {shown(kind, key)!r}")
    return user


def _key(settings: Settings, request: Mapping[str, Any]) -> tuple[KeyKind, str]:
    if request["username"] is not None:
        return USERNAME, validation.username(request["username"])
    if request["email"] is not None:
        return EMAIL, validation.email(request["email"])
    issuer = request["issuer"] or settings.auth.issuer
    if not issuer:
        raise BadInput("auth.issuer is empty: name the subject's issuer with --issuer")
    return SUBJECT, subject_key(issuer, request["subject"])
