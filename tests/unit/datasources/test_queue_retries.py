"""When a failed job is tried again."""

from datasources.streaq.queue import LAST_RETRY_SECONDS, retry_delay


def test_each_delay_is_twice_the_one_before_up_to_the_last() -> None:
    delays = [retry_delay(1.0, tries) for tries in range(1, 12)]
    assert delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, LAST_RETRY_SECONDS, LAST_RETRY_SECONDS]


def test_a_job_that_fails_for_ever_is_tried_for_ever() -> None:
    assert retry_delay(0.5, 1_000_000) == LAST_RETRY_SECONDS
