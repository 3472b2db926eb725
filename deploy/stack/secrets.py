"""The passwords of one stack: made once, kept in a file that only its owner reads."""

import json
import secrets as random_source
from dataclasses import asdict, dataclass
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


def load_or_make(path: Path) -> Secrets:
    """Raises StackError when the file is there but damaged."""
    try:
        fields = json.loads(path.read_text())
        return Secrets(**{str(name): str(value) for name, value in fields.items()})
    except FileNotFoundError:
        pass
    except (ValueError, TypeError, AttributeError) as problem:
        raise StackError(
            f"{path} is damaged ({problem}): delete the directory {path.parent} to begin afresh."
        ) from problem
    made = Secrets(*(random_source.token_urlsafe(24) for _ in range(3)))
    write_if_changed(path, json.dumps(asdict(made), indent=2) + "\n", secret=True)
    return made
