"""The server settings on which acknowledged writes depend, and the check of a server's settings."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datasources.replication import topologies
from datasources.topology import Topology


class Rule(NamedTuple):
    """A server variable, its required value, and what happens with another value."""

    variable: str
    wanted: str
    otherwise: str


LOST = "acknowledged writes may be lost"
ALWAYS = (
    Rule("rpl_semi_sync_master_wait_point", "AFTER_SYNC", "writes show before a slave has them"),
    Rule("rpl_semi_sync_master_wait_no_slave", "ON", f"{LOST} without a slave"),
    Rule("sync_relay_log", "1", f"{LOST} when a slave's machine dies"),
    Rule("relay_log_recovery", "OFF", "a restart throws away what was received"),
    Rule("sync_binlog", "1", f"{LOST} when its machine dies"),
    Rule("innodb_flush_log_at_trx_commit", "1", f"{LOST} when its machine dies"),
    Rule("gtid_strict_mode", "ON", "two histories may mix unseen"),
    Rule("log_slave_updates", "ON", "it can't become a master with slaves"),
    Rule("binlog_format", "ROW", "a slave may compute other values"),
    Rule("event_scheduler", "ON", "the lease is not renewed, so each read looks at the topology"),
)
LONG = 86_400_000  # ms: a day
MASTER = (Rule("read_only", "OFF", "it takes no writes"),)
SLAVE = (
    Rule("rpl_semi_sync_slave_enabled", "ON", "its master's writes never end"),
    Rule("read_only", "ON", "it takes writes that its master lacks"),
    Rule("rpl_semi_sync_master_enabled", "OFF", "STOP SLAVE hangs"),
)
TIMEOUT = "rpl_semi_sync_master_timeout"
VARIABLES = sorted({TIMEOUT, *(rule.variable for rule in (*ALWAYS, *MASTER, *SLAVE))})
ASK = (
    "SELECT LOWER(variable_name), variable_value FROM information_schema.global_variables "
    f"WHERE variable_name IN ({', '.join(['%s'] * len(VARIABLES))})"
)
"""The statement that asks a server for its `VARIABLES`."""


def decoded(rows: Iterable[tuple[Any, ...]]) -> dict[str, str]:
    """The values by variable, from the rows of `ASK`."""
    return {name.decode(): value.decode() for name, value in rows}


def faults_in(topology: Topology, name: str, variables: Mapping[str, str]) -> list[str]:
    """A line for each variable of a server that differs from the value its role (master or slave)
    needs."""
    return faults(
        variables,
        is_master=name in topologies.masters(topology),
        has_slave=topologies.slave_of(topology, name) is not None,
    )


def faults(variables: Mapping[str, str], *, is_master: bool, has_slave: bool) -> list[str]:
    """A line for each variable with a wrong value."""
    rules = [*ALWAYS, *(MASTER if is_master else SLAVE)]
    if is_master and has_slave:
        rules.append(Rule("rpl_semi_sync_master_enabled", "ON", LOST))
    found = [
        f"{rule.variable} is {variables.get(rule.variable, 'unknown')} and must be "
        f"{rule.wanted}: else {rule.otherwise}"
        for rule in rules
        if variables.get(rule.variable) != rule.wanted
    ]
    timeout = variables.get(TIMEOUT, "0")
    if int(timeout) < LONG:
        found.append(
            f"{TIMEOUT} is {timeout} ms and must be {LONG} or more: else after that time {LOST}"
        )
    return found
