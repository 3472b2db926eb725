"""Reads a YAML document together with the line of each value."""

from typing import Any, NamedTuple

import yaml

Place = tuple[str | int, ...]


class Located(NamedTuple):
    """A document's values, and the line of each value by its path."""

    data: Any
    lines: dict[Place, int]

    def line(self, path: Place) -> int:
        """The line of a value, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class BadYaml(ValueError):
    """The text is not a YAML document that is read. `line` is the place."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read(text: str) -> Located:
    """The document in a text. Raises BadYaml, also for a key that is there twice, which PyYAML
    would let win, and for an alias."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        lines: dict[Place, int] = {}
        return Located(_value(loader, node, (), 1, lines) if node is not None else None, lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYaml(mark.line + 1 if mark else 1, str(error.problem)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, BadYaml):
            raise
        raise BadYaml(1, str(error).partition("\n")[0]) from None
    finally:
        loader.dispose()


class _Loader(yaml.SafeLoader):
    """Refuses aliases: a few lines of them can stand for millions of values."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise BadYaml(line, "an alias (*name) is not read: write the value out")
        return super().compose_node(parent, index)


def shown(path: Place) -> str:
    """A path for people: `tables[0].columns.key`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _value(
    loader: yaml.SafeLoader, node: yaml.Node, path: Place, line: int, lines: dict[Place, int]
) -> Any:
    if path in lines:
        raise BadYaml(line, f"{shown(path)} is there already, in line {lines[path]}")
    lines[path] = line
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(loader, item, (*path, n), item.start_mark.line + 1, lines)
            for n, item in enumerate(node.value)
        ]
    if isinstance(node, yaml.MappingNode):
        found = {}
        for key_node, item in node.value:
            key, line = loader.construct_object(key_node), key_node.start_mark.line + 1
            if not isinstance(key, str):
                message = f"{key!r} is no name: put names into quotes if YAML reads them otherwise"
                raise BadYaml(line, message)
            found[_encodable(key, line)] = _value(loader, item, (*path, key), line, lines)
        return found
    return _encodable(loader.construct_object(node), line)


def _encodable(value: Any, line: int) -> Any:
    """The value. Raises BadYaml for a text with half a surrogate pair."""
    try:
        if isinstance(value, str):
            value.encode()
        return value
    except UnicodeEncodeError:
        raise BadYaml(line, f"{value!r} is no text of Unicode") from None
