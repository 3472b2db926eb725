"""How the objects of a subtree are written as JSON by compiled code, where that was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.execution.fused.attempts import ObjectNode
from gateway.execution.run.leaves import Leaf
from gateway.execution.run.sources import Attribute, Constant
from loaders.compiled import WANTED

if TYPE_CHECKING:
    from gateway.execution.fused.written import Form

try:
    if not WANTED:
        raise ImportError
    from gateway.execution.fused import written
except ImportError:  # there was no compiler, or compiled code isn't wanted
    written = None  # type: ignore[assignment]

BUILT = written is not None
"""Whether there is compiled code: without it there is no fast path."""


def form_of(node: ObjectNode) -> Form:
    """The form of a node's objects and of all below them."""
    form = written.Form(node.number)
    for field in node.selection.fields:
        form.key(field.key)
        shown, source = node.shown.get(field), field.source
        if shown is not None:
            shown.add_to(form, form_of)
        elif isinstance(source, Constant):
            form.constant(source.value)
        else:
            assert isinstance(source, Attribute)
            assert isinstance(field.completer, Leaf)
            kind, coerced = field.completer.written()
            form.attribute(source.name, kind, field.completer.nonnull, coerced)
    form.end()
    node.form = form
    return form
