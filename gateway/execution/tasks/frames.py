"""Removes the catching frame from the traceback of an error that is kept: the frame refers to the
error, which is a reference cycle."""

from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def without_frame(error: E) -> E:
    """Returns the error, with the caller's frame removed from its traceback. For `except`
    clauses."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
    return error
