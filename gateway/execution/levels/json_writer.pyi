from collections.abc import Callable, Sequence
from typing import Any

from gateway.execution.levels.tables import Table

class LeafReader:
    def add(
        self,
        number: int,
        name: str,
        kind: str,
        nonnull: bool,
        shown: Callable[[Any], Any] | None,
    ) -> None: ...
    def read(
        self, objs: Sequence[Any], table: Table, first: int
    ) -> list[tuple[int, int, Any]] | None: ...

class Keys:
    last: bytes
    def __init__(self, before: list[bytes], last: bytes) -> None: ...

class TableWriter:
    def __init__(self, root: Table, row: int = 0) -> None: ...
    def step(self, objects: int, size: int) -> bool: ...
    def take(self) -> bytes: ...
