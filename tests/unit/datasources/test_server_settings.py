"""The settings that acknowledged writes depend on."""

from datasources.replication.server_settings import ALWAYS, MASTER, SLAVE, faults

GOOD = {rule.variable: rule.wanted for rule in ALWAYS} | {"rpl_semi_sync_master_timeout": "1" * 12}
OF_MASTER = GOOD | {r.variable: r.wanted for r in MASTER} | {"rpl_semi_sync_master_enabled": "ON"}
OF_SLAVE = GOOD | {r.variable: r.wanted for r in SLAVE}


def test_servers_as_the_stack_sets_them_have_no_faults() -> None:
    assert faults(OF_MASTER, is_master=True, has_slave=True) == []
    assert faults(OF_SLAVE, is_master=False, has_slave=False) == []


def test_a_fault_tells_what_is_there_what_is_right_and_why() -> None:
    wrong = OF_MASTER | {"rpl_semi_sync_master_wait_point": "AFTER_COMMIT"}
    assert faults(wrong, is_master=True, has_slave=True) == [
        "rpl_semi_sync_master_wait_point is AFTER_COMMIT and must be AFTER_SYNC: "
        "else writes show before a slave has them"
    ]


def test_a_master_that_gives_up_waiting_may_lose_writes() -> None:
    [fault] = faults(
        OF_MASTER | {"rpl_semi_sync_master_timeout": "10000"}, is_master=True, has_slave=True
    )
    assert "timeout is 10000 ms" in fault


def test_a_master_without_a_slave_need_not_wait_for_one() -> None:
    alone = OF_MASTER | {"rpl_semi_sync_master_enabled": "OFF"}
    assert faults(alone, is_master=True, has_slave=False) == []
    assert len(faults(alone, is_master=True, has_slave=True)) == 1


def test_a_slave_must_not_be_set_up_as_a_master() -> None:
    found = faults(OF_MASTER, is_master=False, has_slave=False)
    assert [line.split()[0] for line in found] == [rule.variable for rule in SLAVE]
