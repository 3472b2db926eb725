"""The fields of the index.

The words of a title are kept twice: as they are written, and as stems.
"""

from typing import Any

import tantivy

from datasources.ids import kind_of
from datasources.protocols import Document
from datasources.tantivy.words import PLAIN, STEMS, normal

VERSION = 4
"""The version of fields and words. An index of another version is built again."""


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("id", "group"):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    for name in ("kind", "board"):
        builder.add_unsigned_field(name, indexed=True)
    builder.add_float_field("weight", fast=True)
    builder.add_text_field("title", tokenizer_name="plain", index_option="freq")
    builder.add_text_field("stems", tokenizer_name="stems", index_option="freq")
    builder.add_text_field("body", tokenizer_name="stems", index_option="freq")
    return builder.build()


SCHEMA = _schema()


def open_index(folder: str) -> tantivy.Index:
    """The index in a folder; a new index in an empty folder."""
    index = tantivy.Index(SCHEMA, folder)
    index.register_tokenizer("plain", PLAIN)
    index.register_tokenizer("stems", STEMS)
    return index


def stored(document: Document) -> tantivy.Document:
    """A document for the index."""
    title = normal(document.title)
    values: dict[str, Any] = {
        "id": document.id,
        "group": document.group or document.id,
        "kind": int(kind_of(document.id)),
        "board": document.board_id,
        "weight": document.weight,
        "title": title,
        "stems": title,
        "body": normal(document.body),
    }
    return tantivy.Document.from_dict(values, SCHEMA)
