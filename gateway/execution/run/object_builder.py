"""Makes the objects of a selection with generated Python: one comprehension for all parents.

    def build(objs, c0):
        return [{'id': v0, 'name': x0, 'board': None} if (type(v0) is str) else miss()
                for o, x0 in zip(objs, c0) for v0 in (o.id,)]

Attributes are read and checked in place. An unusual value (an error, a null that is not allowed, a
missing attribute) raises; then the objects are made one by one, and the unusual object field by
field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import isfinite
from types import CodeType
from typing import Any, TypeAlias, cast

from gateway.execution.model.selection import Completer, Field, Selection
from gateway.execution.model.value_classes import classes_of
from gateway.execution.run.leaves import LeafCompleter
from gateway.execution.run.sources import Attribute, Bulk, Call, Constant

Late: TypeAlias = "Callable[[Field, Any, int], None]"


class FastPathMiss(Exception):
    """A value that generated or compiled code has no way to handle."""


def miss() -> Any:
    raise FastPathMiss


class ObjectBuilder:
    """Sorts a selection's fields by how their values get into its objects.

    Leaves that are attributes are read by the generated code. `columns` are leaves that a resolver
    gives. `composite` are objects and lists, added after the objects exist.
    """

    def __init__(self, selection: Selection) -> None:
        self.fields = selection.fields
        self.columns: list[Field] = []
        self.composite: list[Field] = []
        inline: list[Field] = []
        for field in self.fields:
            if not isinstance(field.completer, LeafCompleter):
                self.composite.append(field)
            elif isinstance(field.source, Attribute | Constant):
                inline.append(field)
            else:
                self.columns.append(field)
        self.called: list[
            tuple[Field, Attribute | Call | Bulk, Completer, LeafCompleter | None]
        ] = []
        """The fields that are resolved before the objects are made, in response order: with their
        source, their completer, and the completer again if it is a leaf's."""
        for field in self.fields:
            if field not in inline and not isinstance(field.source, Constant):
                completer = field.completer
                leaf = completer if isinstance(completer, LeafCompleter) else None
                self.called.append((field, cast(Any, field.source), completer, leaf))
        self.bulk = [
            (field, source, leaf)
            for field, source, _, leaf in self.called
            if isinstance(source, Bulk)
        ]
        self.keyed = any(isinstance(f.source, Attribute) and f.source.keyed for f in inline)
        """Whether an attribute is read by graphql-core's default resolver, from an item of a
        mapping."""
        self.leaves_only = (
            self._generate(dicts=False)
            if len(inline) == len(self.fields) and not self.keyed
            else None
        )
        """The generated code of a selection that has attribute leaves alone, else None."""
        self._made: dict[bool, Callable[..., list[dict[str, Any]]]] = {}

    @cached_property
    def usual(self) -> Callable[..., list[dict[str, Any]]]:
        """The generated code for objects that are no mappings."""
        return self._generate(dicts=False)

    def prepare(self) -> None:
        """Generate the code that most requests use."""
        if self.leaves_only is None and not self.keyed:
            self._made[False] = self.usual

    def __call__(
        self,
        objs: Sequence[Any],
        columns: list[Sequence[Any]],
        late: Late,
        first: int,
    ) -> list[dict[str, Any]]:
        """The objects, with None for composite fields. `late(field, obj, row)` is called for each
        other missing value. `first` is the row of the first object."""
        dicts = False
        if self.keyed:
            classes = classes_of(objs)
            dicts = classes == {dict}
            if not dicts and any(issubclass(kind, Mapping) for kind in classes):
                return [
                    self._one(obj, [column[i] for column in columns], late, first + i)
                    for i, obj in enumerate(objs)
                ]
        make = self._made.get(dicts)
        if make is None:
            make = self._made[dicts] = self._generate(dicts)
        try:
            return make(objs, *columns)
        except Exception:
            return self._slow(make, objs, columns, late, first)

    def _generate(self, dicts: bool) -> Callable[..., list[dict[str, Any]]]:
        env: dict[str, Any] = {"miss": miss, "isfinite": isfinite}
        parts, reads, checks = [], [], []
        for n, field in enumerate(self.fields):
            if field in self.columns:
                value = f"x{self.columns.index(field)}"
            elif field in self.composite:
                value = "None"
            elif isinstance(field.source, Constant):
                value = repr(field.source.value)
            else:
                assert isinstance(field.source, Attribute)
                assert isinstance(field.completer, LeafCompleter)
                source = field.source
                read = (
                    f"o.get({source.name!r})" if dicts and source.keyed else source.of_object("o")
                )
                reads.append(f" for v{n} in ({read},)")
                check, value = field.completer.inline(n, env, source.keyed)
                if check:
                    checks.append(check)
            parts.append(f"{field.key!r}: {value}")
        if self.columns:
            names = range(len(self.columns))
            arguments = ", ".join(f"c{i}" for i in names)
            items = ", ".join(f"x{i}" for i in names)
            head, loop = f"objs, {arguments}", f"o, {items} in zip(objs, {arguments})"
        else:
            head, loop = "objs", "o in objs"
        made = f"{{{', '.join(parts)}}}"
        if checks:
            made += f" if {' and '.join(checks)} else miss()"
        code = f"def build({head}):\n    return [{made} for {loop}{''.join(reads)}]\n"
        exec(compiled(code), env)
        return env.pop("build")  # type: ignore[no-any-return]

    def _slow(
        self,
        make: Callable[..., list[dict[str, Any]]],
        objs: Sequence[Any],
        columns: list[Sequence[Any]],
        late: Late,
        first: int,
    ) -> list[dict[str, Any]]:
        out = []
        for i, obj in enumerate(objs):
            given = [column[i] for column in columns]
            try:
                out += make((obj,), *[(value,) for value in given])
            except Exception:
                out.append(self._one(obj, given, late, first + i))
        return out

    def _one(self, obj: Any, given: list[Any], late: Late, row: int) -> dict[str, Any]:
        """One object. Its attributes are reported to `late`, and completed like any values."""
        made: dict[str, Any] = {}
        columns = iter(given)
        for field in self.fields:
            value = None
            if isinstance(field.completer, LeafCompleter):
                if isinstance(field.source, Constant):
                    value = field.source.value
                elif isinstance(field.source, Attribute):
                    late(field, obj, row)
                else:
                    value = next(columns)
            made[field.key] = value
        return made


SHORT = 2_000
"""The length of code, in characters, up to which compiled code is shared by selections of the same
fields."""


def compiled(source: str) -> CodeType:
    return _compiled(source) if len(source) <= SHORT else compile(source, "<plan>", "exec")


@lru_cache(1024)
def _compiled(source: str) -> CodeType:
    return compile(source, "<plan>", "exec")
