"""Writes `schema/schema.graphql`: `python -m schema.snapshot`."""

from pathlib import Path

from schema import schema

PATH = Path(__file__).with_name("schema.graphql")


def printed() -> str:
    """The schema in the form of its snapshot."""
    return schema.as_str() + "\n"


if __name__ == "__main__":
    PATH.write_text(printed())
