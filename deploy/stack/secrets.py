"""The passwords of one stack: created once, in a file that only its owner can read."""

import json
import secrets as random_source
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from deploy.stack.errors import StackError
from deploy.stack.files import write_if_changed


@dataclass(frozen=True)
class Secrets:
    """The stack's passwords and keys. They consist of letters, digits, `-` and `_`, so they need no
    quoting anywhere."""

    mysql_password: str
    replica_password: str
    auth_secret: str
    mysql_operator_password: str = ""


def load_or_make(path: Path) -> Secrets:
    """The secrets. Raises StackError when the file exists but is damaged."""
    try:
        fields = json.loads(path.read_text())
        made = Secrets(**{str(name): str(value) for name, value in fields.items()})
        if made.mysql_operator_password:
            return made
        made = replace(made, mysql_operator_password=random_source.token_urlsafe(24))
    except FileNotFoundError:
        made = Secrets(*(random_source.token_urlsafe(24) for _ in range(4)))
    except (ValueError, TypeError, AttributeError) as problem:
        raise StackError(
            f"{path} is damaged ({problem}): delete the directory {path.parent} to begin afresh."
        ) from problem
    write_if_changed(path, json.dumps(asdict(made), indent=2) + "\n", secret=True)
    return made
