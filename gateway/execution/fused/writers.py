"""Makes the JSON writers of a subtree's objects, if compiled modules are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.execution.fused.attempts import ObjectNode
from gateway.execution.run.leaves import LeafCompleter
from gateway.execution.run.sources import Attribute, Constant
from loaders.compiled import WANTED

if TYPE_CHECKING:
    from gateway.execution.fused.json_writer import JsonWriter

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.fused import json_writer
except ImportError:  # not built, or PINWAY_COMPILED=0
    json_writer = None  # type: ignore[assignment]

BUILT = json_writer is not None
"""Whether there is a fast path: it exists only as compiled code."""


def writer_of(node: ObjectNode) -> JsonWriter:
    """Returns the writer of a node's objects, which also writes all objects below them."""
    writer = json_writer.JsonWriter(node.number)
    for field in node.selection.fields:
        writer.key(field.key)
        output, source = node.outputs.get(field), field.source
        if output is not None:
            output.add_to(writer, writer_of)
        elif isinstance(source, Constant):
            writer.constant(source.value)
        else:
            assert isinstance(source, Attribute)
            assert isinstance(field.completer, LeafCompleter)
            kind, coerced = field.completer.written()
            writer.attribute(source.name, kind, field.completer.nonnull, coerced)
    writer.end()
    node.writer = writer
    return writer
