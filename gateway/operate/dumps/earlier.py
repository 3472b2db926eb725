"""The earlier dump that an increment follows."""

from pathlib import Path

from datasources.errors import ConfigError
from datasources.urls import mask
from gateway.operate.dumps.manifest import FINISHED, NAME, Manifest, Since, decode
from gateway.operate.dumps.places import opened
from gateway.operate.dumps.tables import SCHEMA


async def read_earlier(at: str, source: str, by: str, pictures: str = "") -> Manifest:
    """The manifest of a finished dump of the topology `source`, with partitions of the same
    periods. `pictures` is the setting stores.pictures. Raises ConfigError."""
    if "://" not in at and not (Path(at) / NAME).is_file():
        raise ConfigError(f"{at} has no dump: name the folder of the last dump, or of an increment")
    async with opened(at, pictures) as place:
        content = await place.get(NAME)
    if content is None:
        raise ConfigError(f"{mask(at)} has no dump: name the place of the last dump or increment")
    found = decode(content, mask(at))
    if found.state != FINISHED:
        raise ConfigError(f"the dump in {mask(at)} is unfinished: finish it first")
    if found.source != source:
        raise ConfigError(f"the dump in {mask(at)} is of {found.source}, not of {source}")
    if found.by != by:
        raise ConfigError(
            f"the dump in {mask(at)} is by {found.by}: take --by {found.by}, so that programs can "
            "read both together"
        )
    if found.schema > SCHEMA:
        raise ConfigError(
            f"the dump in {mask(at)} is of Pinway {found.pinway}, which knows more columns: take "
            "that version, or make a full dump"
        )
    return found


def check_apart(at: str, to: str) -> None:
    """Raises ConfigError if an increment would be written to the place of the earlier dump."""
    local = "://" not in at + to
    if (Path(at).resolve() == Path(to).resolve()) if local else at == to:
        raise ConfigError(f"{mask(to)} is the dump that the increment follows: name a new place")


def named(at: str, found: Manifest) -> Since:
    """An earlier dump, as the manifest of an increment names it."""
    assert found.ended is not None
    return Since(mask(at), found.ended, found.number, found.schema)
