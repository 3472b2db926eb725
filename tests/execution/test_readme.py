"""The example in the executor's README runs, and gives graphql-core's answer."""

import asyncio
import re
import runpy
from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import ExecutionResult, execute

README = Path(__file__).parents[2] / "gateway" / "execution" / "README.md"


@pytest.fixture
def example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The names that the example defines; `printed` is what it prints."""
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    file = tmp_path / "example.py"
    file.write_text(code)
    names = runpy.run_path(str(file), run_name="example")
    return {**names, "printed": capsys.readouterr().out}


async def _by_graphql_core(example: dict[str, Any]) -> ExecutionResult:
    schema = example["schema"]._schema
    result = execute(schema, example["query"], context_value=example["context"])
    return result if isinstance(result, ExecutionResult) else await result


def test_the_example_gives_graphql_cores_answer(example: dict[str, Any]) -> None:
    expected = asyncio.run(_by_graphql_core(example))
    assert expected.errors is None
    assert orjson.loads(example["printed"]) == expected.data
    assert expected.data == {
        "books": [
            {"title": "Emma", "author": {"name": "Jane Austen"}},
            {"title": "Beowulf", "author": None},
        ]
    }
