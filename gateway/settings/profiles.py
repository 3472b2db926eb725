"""The profiles of [limits]: numbers that fit together, under one name."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

ProfileName = Literal["public", "trusted"]


class Profile(NamedTuple):
    """The numbers of a profile. A setting of [limits] with the same name overrides a number; the
    other numbers are fixed. docs/settings.md describes each. For an operation and for a client, 0
    is no bound."""

    # One document
    query_depth: int = 16
    query_tokens: int = 5_000
    query_length: int = 200_000
    query_selections: int = 2_000
    query_root_fields: int = 30
    query_aliases: int = 100
    query_directives: int = 100
    query_operations: int = 50

    # One operation
    max_cost: int = 50_000
    max_response_bytes: int = 10_000_000

    # One client
    rate_cost: int = 10_000
    rate_burst: int = 1_000_000
    max_running: int = 100
    max_running_cost: int = 4_000
    client_share: float = 0.25
    writes_per_day: int = 10_000
    sign_ups_per_hour: int = 20


PUBLIC = Profile()
"""Clients that anybody can write and run."""

TRUSTED = Profile(
    query_depth=32,
    query_tokens=25_000,
    query_length=1_000_000,
    query_selections=10_000,
    query_root_fields=150,
    query_aliases=500,
    query_directives=500,
    query_operations=250,
    max_cost=250_000,
    max_response_bytes=50_000_000,
    rate_cost=0,
    max_running=0,
    max_running_cost=0,
    client_share=0,
    writes_per_day=0,
    sign_ups_per_hour=0,
)
"""Services of the gateway's owner, such as a web server that renders pages for many people: five
times larger operations, and no bounds on a client."""

PROFILES: dict[ProfileName, Profile] = {"public": PUBLIC, "trusted": TRUSTED}


def number(name: str) -> Callable[[dict[str, Any]], int]:
    """The default of a setting of [limits], as pydantic asks for it: with the values of the
    settings before it, among them `profile`."""

    def of_profile(values: dict[str, Any]) -> int:
        return int(getattr(PROFILES[values["profile"]], name))

    return of_profile
