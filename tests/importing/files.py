"""Imports and exports for tests."""

import io
import json
from pathlib import Path
from typing import Any

from datasources.protocols import Stores
from gateway.operate.imports.entries import json_lines
from gateway.operate.imports.export import export_file
from gateway.operate.imports.import_source import opened
from gateway.operate.imports.loader import first_pass, import_entries
from gateway.operate.imports.report import ImportOptions, ImportReport, OnBad, OnProgress, silent

NO_FEEDS = ImportOptions(feeds=False)


async def take(
    stores: Stores, *lines: dict[str, Any] | bytes, options: ImportOptions = NO_FEEDS
) -> ImportReport:
    """Import some lines."""
    data = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return await import_entries(stores, json_lines(io.BytesIO(b"\n".join(data))), options=options)


async def import_file(
    stores: Stores,
    path: Path,
    *,
    options: ImportOptions | None = None,
    progress: OnProgress = silent,
    on_bad: OnBad | None = None,
) -> ImportReport:
    """Import a file, as `pinway import` does."""
    with opened(path) as source, first_pass(source, options=options, on_bad=on_bad) as importing:
        await importing.read(progress)
        return await importing.write(stores, progress)


async def give(stores: Stores) -> bytes:
    """An export of all data."""
    out = io.BytesIO()
    await export_file(stores, out)
    return out.getvalue()


def user(key: str, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "key": key, "username": f"user_{key}", **fields}


def board(key: str, owner: str, **fields: Any) -> dict[str, Any]:
    return {"type": "board", "key": key, "owner": owner, "name": f"Board {key}", **fields}


def pin(key: str, board: str, **fields: Any) -> dict[str, Any]:
    return {"type": "pin", "key": key, "board": board, **fields}


def section(key: str, board: str, **fields: Any) -> dict[str, Any]:
    return {"type": "section", "key": key, "board": board, "name": f"Section {key}", **fields}


def collaborator(board: str, user: str, **fields: Any) -> dict[str, Any]:
    return {"type": "collaborator", "board": board, "user": user, **fields}


def interest(key: str, **fields: Any) -> dict[str, Any]:
    return {"type": "interest", "key": key, "name": key.title(), "slug": key, **fields}


def follow(follower: str, **target: str) -> dict[str, Any]:
    return {"type": "follow", "follower": follower, **target}


def block(viewer: str, user: str, **fields: Any) -> dict[str, Any]:
    return {"type": "block", "viewer": viewer, "user": user, **fields}


def mute(viewer: str, user: str) -> dict[str, Any]:
    return {"type": "mute", "viewer": viewer, "user": user}


def hide(viewer: str, pin: str) -> dict[str, Any]:
    return {"type": "hide", "viewer": viewer, "pin": pin}


def preference(viewer: str, see: str, **target: str) -> dict[str, Any]:
    return {"type": "preference", "viewer": viewer, "see": see, **target}


def like(user: str, pin: str) -> dict[str, Any]:
    return {"type": "like", "user": user, "pin": pin}


def comment(key: str, pin: str, author: str, text: str = "Nice") -> dict[str, Any]:
    return {"type": "comment", "key": key, "pin": pin, "author": author, "text": text}
