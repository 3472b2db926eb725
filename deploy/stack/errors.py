"""The errors of installing, starting and stopping servers.

StackError              one line for the user that says what to do
└── StartFailed         a server did not come up; carries the tail of its log
"""

from pathlib import Path


class StackError(Exception):
    """A failure told in one line that says what to do."""


class StartFailed(StackError):
    """A server ended, or did not become ready, during its start.

    `log` is its log file and `tail` the file's last lines.
    """

    def __init__(self, message: str, log: Path, tail: str) -> None:
        super().__init__(message)
        self.log = log
        self.tail = tail
