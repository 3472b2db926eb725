"""The topology in a file."""

from datasources.file.topology import FileTopology

__all__ = ["FileTopology"]
