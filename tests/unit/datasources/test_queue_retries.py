"""When a failed job is tried again."""

from datasources.streaq.queue import LAST_RETRY_SECONDS, retry_delay


def test_the_longest_delay_is_twice_the_one_before_up_to_the_last() -> None:
    delays = [retry_delay(1.0, tries, max) for tries in range(1, 12)]
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, LAST_RETRY_SECONDS, LAST_RETRY_SECONDS]


def test_the_shortest_delay_is_half_the_longest() -> None:
    assert [retry_delay(1.0, tries, min) for tries in (1, 2, 3)] == [0.5, 1, 2]


def test_jobs_that_failed_together_do_not_come_back_together() -> None:
    assert len({retry_delay(1.0, 5) for _ in range(100)}) > 90


def test_a_job_that_fails_for_ever_is_tried_for_ever() -> None:
    assert retry_delay(0.5, 1_000_000, max) == LAST_RETRY_SECONDS
