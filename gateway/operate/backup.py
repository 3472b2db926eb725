"""Backups of the embedded stores as of one moment, and their restoring.

A backup is a folder: the shards' files, both sides' feeds, the uploaded pictures, the topology, the
signing key, and `backup.json` with a checksum of each file. The queue and the caches are left out,
because all their data is also in the shards: unfinished work is in the shards' outboxes, and is
queued again.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from datasources import switches
from datasources.errors import ConfigError, Damaged
from datasources.files import sha256
from datasources.protocols import Stores, WideColumnStore
from datasources.snapshots import FeedSnapshots, ShardSnapshots
from gateway.operate.imports.report import Progress
from gateway.settings import EMBEDDED, Settings
from gateway.site.embedded_stores import DATA

FORMAT = 1
_LIST = "backup.json"
_QUEUE_MARK = "made.queue"  # a restored queue is empty without a loss
_SMALL = ("topology.json", "auth_secret")
OnProgress = Callable[[Progress], None]


class Content(msgspec.Struct, frozen=True):
    """A file of a backup."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """The list of a backup's files, and the program that made it."""

    format: int
    pinway: str
    made: str
    files: dict[str, Content]

    @property
    def bytes(self) -> int:
        return sum(content.bytes for content in self.files.values())


class Backup(NamedTuple):
    """A backup that was made or restored."""

    folder: Path
    manifest: Manifest


def require_embedded(settings: Settings) -> None:
    """Raises ConfigError unless all data is in the embedded stores."""
    others = [name for name in DATA if getattr(settings.stores, name) != EMBEDDED]
    if others:
        raise ConfigError(
            f"{', '.join(others)} are servers, and this command copies embedded stores: "
            "docs/how-to/backup.md says how to back up servers"
        )


async def make(stores: Stores, data: Path, folder: Path, on_progress: OnProgress) -> Backup:
    """Copy all stores as of one moment into a new folder. Raises ConfigError when the folder can't
    be created, StoreError when a store can't be copied; after an error no part of the folder stays.
    """
    if folder.exists():  # noqa: ASYNC240 (a look at the disk)
        raise ConfigError(f"{folder} exists already: name a new folder for each backup")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700, parents=True)
        (unfinished / "shards").mkdir()
        await _copy(stores, data, unfinished, on_progress)
        manifest = await asyncio.to_thread(_listed, unfinished)
        (unfinished / _LIST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        unfinished.rename(folder)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise ConfigError(f"can't write the backup to {folder}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return Backup(folder, manifest)


async def _copy(stores: Stores, data: Path, folder: Path, on_progress: OnProgress) -> None:
    shards = stores.shards
    sides: dict[str, WideColumnStore] = {
        "primary": stores.feeds.primary,
        "standby": stores.feeds.standby,
    }
    if not isinstance(shards, ShardSnapshots):
        raise ConfigError("these shards can't be copied by this command")
    (folder / "feeds").mkdir()

    async def feeds() -> None:
        for side, store in sides.items():
            if isinstance(store, FeedSnapshots):
                await store.snapshot(folder / "feeds" / side)

    def copied(done: int, of: int) -> None:
        on_progress(Progress("Shards", done, of, "shards"))

    await shards.snapshot(folder / "shards", feeds, copied)
    await asyncio.to_thread(_copy_pictures, data, folder)
    for name in _SMALL:
        if (data / name).exists():
            shutil.copy2(data / name, folder / name)
    kept = data / "topology.json.switches"
    if kept.exists():
        now = switches.parse(kept.read_bytes(), str(kept))
        (folder / kept.name).write_bytes(switches.dump(switches.changed(now, {_QUEUE_MARK: None})))


def _copy_pictures(data: Path, folder: Path) -> None:
    """Copy all pictures, after the shards: each picture of a copied pin is among them."""

    def copy(path: str, to: str) -> None:
        with suppress(FileNotFoundError):  # a deleted account's
            shutil.copy2(path, to)

    if (data / "pictures").exists():
        shutil.copytree(data / "pictures", folder / "pictures", copy_function=copy)


def _listed(folder: Path) -> Manifest:
    files = {
        path.relative_to(folder).as_posix(): Content(path.stat().st_size, sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != _LIST
    }
    made = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Manifest(FORMAT, version("pinway"), made, files)


def read(folder: Path) -> Manifest:
    """The list of a backup. Raises Damaged when it can't be read."""
    path = folder / _LIST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise ConfigError(
            f"{folder} is not a backup: {path.name} can't be read ({error.strerror})"
        ) from None
    except msgspec.MsgspecError as error:
        if (folder / "base").is_dir():
            raise ConfigError(
                f"{folder} is a backup of a shard server: `pinway shards restore` restores it"
            ) from None
        raise Damaged(f"{path} is damaged ({error}): take another backup") from None
    if manifest.format != FORMAT:
        raise ConfigError(
            f"{folder} has format {manifest.format}, made by Pinway {manifest.pinway}: restore it "
            "with that version"
        )
    return manifest


def restore(folder: Path, data: Path, on_progress: OnProgress) -> Backup:
    """Make a data directory from a backup, completely or not at all. Raises ConfigError when the
    directory is not empty, and Damaged when the backup has changed since it was written."""
    manifest, data = read(folder), data.absolute()
    if data.exists() and any(data.iterdir()):
        raise ConfigError(f"{data} is not empty: move it away, or restore to another --data-dir")
    unfinished = data.with_name(f"{data.name}.restoring")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700, parents=True)
        for done, (name, content) in enumerate(manifest.files.items(), 1):
            to = unfinished / name
            to.parent.mkdir(parents=True, exist_ok=True)
            _copy_checked(folder / name, to, content)
            on_progress(Progress("Files", done, len(manifest.files), "files"))
        if data.exists():
            data.rmdir()
        unfinished.rename(data)
    except OSError as error:
        raise ConfigError(f"can't restore to {data}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return Backup(folder, manifest)


def _copy_checked(path: Path, to: Path, content: Content) -> None:
    if not path.is_file():
        raise Damaged(f"the backup lacks {path}: take another backup")
    shutil.copy2(path, to)
    if sha256(to) != content.sha256:
        raise Damaged(f"{path} is not what was backed up: take another backup")
    with to.open("rb") as file:
        os.fsync(file.fileno())
