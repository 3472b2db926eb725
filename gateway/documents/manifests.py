"""Reads the manifests of trusted documents that the build tools of clients write.

Three tools' formats are read. Relay's compiler (`persistConfig.file`) and GraphQL Code Generator
(`persisted-documents.json`) write one JSON object, from ids to texts. Apollo's
`generate-persisted-query-manifest` writes an object with `"format"`, `"version": 1` and a list of
operations, each with `id` and `body`.
"""

from pathlib import Path
from typing import Any

import orjson

from datasources.errors import ConfigError

APOLLO = "apollo-persisted-query-manifest"
APOLLO_VERSION = 1
MOST_BYTES = 64 * 1024**2
"""The maximum size of a manifest. Every process holds all texts in memory."""


def read_manifest(path: Path) -> dict[str, str]:
    """The texts of a manifest's documents by their ids. Raises ConfigError, in one line."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ConfigError(f"{path} has {size} bytes; a manifest has {MOST_BYTES} at most")
        manifest = orjson.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"can't read the manifest {path}: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path} is not valid JSON: {error}") from None
    try:
        return texts_of(manifest)
    except ValueError as error:
        raise ConfigError(f"{path} is no manifest of documents: {error}") from None


def texts_of(manifest: Any) -> dict[str, str]:
    """The texts by their ids, from a manifest's JSON value. Raises ValueError."""
    if not isinstance(manifest, dict):
        raise ValueError("it must be a JSON object")
    if "format" not in manifest and "operations" not in manifest:
        return _checked(manifest.items())
    if manifest.get("format") != APOLLO:
        raise ValueError(f"its format must be {APOLLO}")
    if manifest.get("version") != APOLLO_VERSION:
        raise ValueError(f"its version must be {APOLLO_VERSION}")
    operations = manifest.get("operations")
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise ValueError("its operations must be a list of objects")
    return _checked([(each.get("id"), each.get("body")) for each in operations])


def _checked(pairs: Any) -> dict[str, str]:
    texts: dict[str, str] = {}
    for id_, text in pairs:
        if not isinstance(id_, str) or not id_:
            raise ValueError("each document needs an id, a string")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"the text of the document {id_[:64]!r} must be a string")
        if texts.setdefault(id_, text) != text:
            raise ValueError(f"the id {id_[:64]!r} has two texts")
    return texts
