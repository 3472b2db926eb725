"""The topology and the operators' switches, in files."""

from datasources.file.switches import FileSwitches
from datasources.file.topology import FileTopology

__all__ = ["FileSwitches", "FileTopology"]
