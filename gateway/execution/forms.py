"""How a subtree's objects are written as JSON by compiled code, where that was built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from gateway.execution.bind import Attribute, Constant
from gateway.execution.compiled import written
from gateway.execution.leaves import Leaf

if TYPE_CHECKING:
    from gateway.execution.attempts import Spot
    from gateway.execution.written import Form

FormOf: TypeAlias = "Callable[[Spot], Form]"


def form_of(spot: Spot) -> Form | None:
    """The form of a spot's objects and of all below them; None without compiled code."""
    return None if written is None else _form(spot)


def _form(spot: Spot) -> Form:
    form = written.Form(spot.number)
    for field in spot.selection.fields:
        form.key(field.key)
        shown, source = spot.shown.get(field), field.source
        if shown is not None:
            shown.add_to(form, _form)
        elif isinstance(source, Constant):
            form.constant(source.value)
        else:
            assert isinstance(source, Attribute)
            assert isinstance(field.completer, Leaf)
            kind, coerced = field.completer.written()
            form.attribute(source.name, kind, field.completer.nonnull, coerced)
    form.end()
    spot.form = form
    return form
