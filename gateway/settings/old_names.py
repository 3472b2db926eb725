"""The names that settings had before they were in tables. This version still reads them; the next
version deletes this module."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from datasources.errors import ConfigError
from gateway.settings.given import Given, Values

log = logging.getLogger("pinway.settings")

OLD_NAMES = {
    "host": "http.host",
    "port": "http.port",
    "public_url": "http.public_url",
    "admin_host": "http.admin_host",
    "admin_port": "http.admin_port",
    "workers": "http.workers",
    "graphiql": "http.graphiql",
    "web": "http.web",
    "introspection": "http.introspection",
    "allowed_hosts": "http.allowed_hosts",
    "allowed_origins": "http.allowed_origins",
    "allowed_headers": "http.allowed_headers",
    "trusted_proxies": "http.trusted_proxies",
    "request_timeout": "http.request_timeout",
    "idle_timeout": "http.idle_timeout",
    "max_connections": "http.max_connections",
    "max_connections_per_client": "http.max_connections_per_client",
    "max_body_bytes": "http.max_body_bytes",
    "auth_secret": "auth.secret",
    "token_hours": "auth.token_hours",
    "demo_viewer": "auth.demo_viewer",
    "topology": "stores.topology",
    "topology_seed": "stores.topology_seed",
    "object_cache": "stores.object_cache",
    "mapping_cache": "stores.mapping_cache",
    "queue": "stores.queue",
    "pools_primary": "stores.pools_primary",
    "pools_standby": "stores.pools_standby",
    "feeds_primary": "stores.feeds_primary",
    "feeds_standby": "stores.feeds_standby",
    "slave_reads": "stores.slave_reads",
    "cache_refused_is_empty": "stores.cache_refused_is_empty",
    "mysql_user": "mysql.user",
    "mysql_password": "mysql.password",
    "mysql_ca": "mysql.ca",
    "mysql_operator_user": "mysql.operator_user",
    "mysql_operator_password": "mysql.operator_password",
    "mysql_connections": "mysql.connections",
    "mysql_processes": "mysql.processes",
    "run_jobs": "jobs.run",
    "queues": "jobs.queues",
    "job_concurrency": "jobs.concurrency",
    "relay_seconds": "jobs.relay_seconds",
    "feed_policy": "feeds.profile",
    "feed_cutoff": "feeds.cutoff",
    "feed_cutoff_most": "feeds.cutoff",
    "feed_deadline": "feeds.deadline",
    "home_generator_seconds": "feeds.chunk_seconds",
    "max_query_depth": "limits.query_depth",
    "max_cost": "limits.max_cost",
    "max_response_bytes": "limits.max_response_bytes",
    "rate_cost": "limits.rate_cost",
    "rate_burst": "limits.rate_burst",
    "max_running": "limits.max_running",
    "max_running_cost": "limits.max_running_cost",
    "writes_per_day": "limits.writes_per_day",
    "sign_ups_per_hour": "limits.sign_ups_per_hour",
    "log_level": "telemetry.log_level",
    "log_format": "telemetry.log_format",
    "slow_seconds": "telemetry.slow_seconds",
    "traces": "telemetry.traces",
    "traces_share": "telemetry.traces_share",
}
"""Old names of settings, and their names now."""


_ALWAYS = "it is always {}"
_BY_LIMITS, _BY_FEEDS = "limits.profile decides", "feeds.profile decides"
_BY_INTROSPECTION = "http.introspection decides"
REMOVED: dict[str, tuple[float | bool | str, str]] = {
    "max_query_tokens": (5_000, _BY_LIMITS),
    "max_query_length": (200_000, _BY_LIMITS),
    "max_query_selections": (2_000, _BY_LIMITS),
    "max_query_root_fields": (30, _BY_LIMITS),
    "max_query_aliases": (100, _BY_LIMITS),
    "max_query_directives": (100, _BY_LIMITS),
    "max_query_operations": (50, _BY_LIMITS),
    "client_share": (0.25, _BY_LIMITS),
    "feed_extra_load": (0.03, _BY_FEEDS),
    "feed_warm": (0.01, _BY_FEEDS),
    "feed_finish": (0, _BY_FEEDS),
    "suggestions": (True, _BY_INTROSPECTION),
    "log_requests": (True, "telemetry.log_level decides"),
    "collector": ("short", _ALWAYS),
    "header_timeout": (10, _ALWAYS),
    "body_timeout": (30, _ALWAYS),
    "write_timeout": (30, _ALWAYS),
    "max_header_bytes": (32_768, _ALWAYS),
    "max_headers": (100, _ALWAYS),
    "max_url_bytes": (16_384, _ALWAYS),
    "max_pipelined": (16, _ALWAYS),
    "max_unsent_bytes": (65_536, _ALWAYS),
    "max_bodies_bytes": (67_108_864, _ALWAYS),
    "max_body_values": (12_000, _ALWAYS),
    "issue_tokens": (True, _ALWAYS),
    "answers_days": (7, _ALWAYS),
    "visits_days": (30, _ALWAYS),
    "shown_days": (90, _ALWAYS),
    "respace_threshold": (8, _ALWAYS),
    "respace_room": (40, _ALWAYS),
    "respace_rows": (256, _ALWAYS),
    "document_cache": (1_000, _ALWAYS),
    "document_cache_bytes": (268_435_456, _ALWAYS),
}
"""Names without a setting now: the default that each had, and what there is instead."""


def renamed(found: Values, spelling: Callable[[str], str]) -> Values:
    """The values of one source under the names that settings have now. Logs a line about each old
    name. `spelling` is how the source spells a name. Raises ConfigError for a setting that has two
    names in the source, and for a removed setting unless its value is the old default."""
    values: Values = {}
    for name, given in found.items():
        if name in REMOVED:
            _check_removed(given, spelling(name), *REMOVED[name])
            continue
        if (now := OLD_NAMES.get(name)) is None:
            values[name] = given
            continue
        if other := values.get(now) or found.get(now):
            raise ConfigError(
                f"{given.place}: {spelling(name)} is the old name of {spelling(now)}, which "
                f"{other.place} sets too: remove {spelling(name)}"
            )
        log.warning(
            "%s: %s is now %s; the next version does not read the old name",
            *(given.place, spelling(name), spelling(now)),
        )
        values[now] = given
    return values


def _check_removed(given: Given, spelled: str, default: float | bool | str, instead: str) -> None:
    instead = instead.format(str(default).lower())
    if not _equal(given.value, default):
        raise ConfigError(
            f"{given.place}: {spelled} is no setting any more: {instead}. Remove {spelled}"
        )
    log.warning("%s: %s is no setting any more: %s", given.place, spelled, instead)


def _equal(value: Any, default: float | bool | str) -> bool:
    """Whether a value is the default: 10.0, "10" and 10 are equal."""
    with suppress(TypeError, ValueError):
        return float(value) == float(default)
    return str(value).lower() == str(default).lower()
