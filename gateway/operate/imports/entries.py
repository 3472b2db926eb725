"""Reads a file of JSON Lines as import lines, with bounded memory."""

from collections.abc import Iterator
from typing import IO

from gateway.operate.imports.events import Fault
from gateway.operate.imports.jsonl import BadLine, decode
from gateway.operate.imports.lines import Entry

MAX_LINE = 1 << 20  # bytes


def json_lines(file: IO[bytes]) -> Iterator[Entry | Fault]:
    """Entries of a JSON Lines file; empty lines are skipped."""
    number = 0
    while data := file.readline(MAX_LINE + 1):
        number += 1
        if len(data) > MAX_LINE:
            while not data.endswith(b"\n") and (data := file.readline(MAX_LINE)):
                pass
            yield Fault(number, f"longer than {MAX_LINE} bytes")
            continue
        data = (data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data).strip()
        if not data:
            continue
        try:
            yield Entry(number, decode(data), data)
        except BadLine as error:
            yield Fault(number, str(error))
