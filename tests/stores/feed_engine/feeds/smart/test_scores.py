"""Scores: logarithms that keep their order as time passes."""

from feed_engine.feeds.rows import Reason
from feed_engine.feeds.smart import scores
from feed_engine.feeds.smart.scores import HALF_LIFE

NOW = 1_800_000_000_000


def interest(score: float, now: int) -> float:
    """The present interest in a pin; 1 is a new pin of a followed user."""
    return float(2 ** (score - now / HALF_LIFE))


def test_the_interest_in_a_new_pin_of_a_followed_user_is_one() -> None:
    assert interest(scores.fresh(Reason.FOLLOWED_USER, NOW), NOW) == 1


def test_a_pin_loses_half_of_its_interest_in_a_half_life() -> None:
    score = scores.fresh(Reason.FOLLOWED_USER, NOW)
    assert interest(score, NOW + HALF_LIFE) == 0.5


def test_a_followed_board_outweighs_its_owner_and_an_interest_least() -> None:
    of = {reason: scores.fresh(reason, NOW) for reason in scores.WEIGHTS}
    assert of[Reason.FOLLOWED_BOARD] > of[Reason.FOLLOWED_USER] > of[Reason.FOLLOWED_INTEREST]


def test_twice_the_likes_outweigh_one_half_life() -> None:
    assert scores.hot(15, NOW) == scores.hot(7, NOW + HALF_LIFE)


def test_related_pins_are_as_fresh_as_the_like_and_older_ones_come_later() -> None:
    new, old = scores.related(NOW, NOW), scores.related(NOW - 10 * HALF_LIFE, NOW)
    assert new == scores.fresh(Reason.RELATED, NOW)
    assert scores.fresh(Reason.RELATED, NOW - 10 * HALF_LIFE) < old < new
