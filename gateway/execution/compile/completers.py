"""Chooses the completer of a field by its type."""

from __future__ import annotations

from graphql import (
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    is_leaf_type,
)

from gateway.execution.model.selection import Completer, Field
from gateway.execution.run.composites import AbstractCompleter, ObjectCompleter
from gateway.execution.run.leaves import LeafCompleter
from gateway.execution.run.lists import ListCompleter


def completer_of(field: Field, type_: GraphQLOutputType, nonnull: bool = False) -> Completer:
    if isinstance(type_, GraphQLNonNull):
        return completer_of(field, type_.of_type, True)
    if isinstance(type_, GraphQLList):
        return ListCompleter(field, completer_of(field, type_.of_type), nonnull)
    if is_leaf_type(type_):
        return LeafCompleter(field, type_, nonnull)
    if isinstance(type_, GraphQLObjectType):
        return ObjectCompleter(field, type_, nonnull)
    return AbstractCompleter(field, type_, nonnull)  # type: ignore[arg-type]
