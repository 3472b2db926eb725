"""How many jobs run at a time."""

import pytest

from gateway.settings import Jobs, Settings, read_settings
from gateway.site.runtime import jobs_at_a_time


def test_one_job_at_a_time_runs_over_embedded_stores() -> None:
    assert jobs_at_a_time(Settings(jobs=Jobs(concurrency=4))) == 1


@pytest.mark.parametrize(
    "remote", ["topology", "pools_primary", "pools_standby", "feeds_primary", "feeds_standby"]
)
def test_jobs_that_wait_for_servers_run_beside_each_other(remote: str) -> None:
    settings = read_settings(
        options={"jobs.concurrency": 4, f"stores.{remote}": "hbase://server:9090"}
    )
    assert jobs_at_a_time(settings) == 4
