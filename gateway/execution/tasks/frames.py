"""Errors kept without the frame that caught them, which holds them in turn: a reference cycle."""

from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def without_frame(error: E) -> E:
    """The error, its traceback beginning below the caller; for `except` clauses."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
    return error
