"""Every setting, read once at the start: from a TOML file, the environment and the command line.

- `tables`: each setting with its type, default and range; `model`: all tables together.
- `reading`: one value a setting from all sources; `sources`: what a file and the environment set.
- `messages`: what is wrong, and where it was set; `nearest`: what a misspelt name means.
- `old_names`: names of earlier versions.
"""

from gateway.settings.model import Settings
from gateway.settings.reading import changed, read_settings
from gateway.settings.tables import (
    EMBEDDED,
    Auth,
    Feeds,
    Http,
    Jobs,
    Limits,
    MySql,
    StoreUrls,
    Telemetry,
)

__all__ = [
    "EMBEDDED",
    "Auth",
    "Feeds",
    "Http",
    "Jobs",
    "Limits",
    "MySql",
    "Settings",
    "StoreUrls",
    "Telemetry",
    "changed",
    "read_settings",
]
