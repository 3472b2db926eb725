"""The simulated population of the benchmark of the home feed."""

import numpy as np
import pytest

from bench.smartfeed import liking
from bench.smartfeed.population import Population, Shape, drawn
from feed_engine.times import DAY


@pytest.fixture(scope="module")
def population() -> Population:
    return drawn(Shape(users=200, pins=3_000, viewers=10, days=7, history=20, topics=12))


def test_a_shape_gives_the_same_population_each_time(population: Population) -> None:
    again = drawn(population.shape)
    assert list(again.follows) == list(population.follows)
    assert again.viewers == population.viewers
    assert (again.root == population.root).all()
    assert again.likes_of_others() == population.likes_of_others()
    assert again.visits() == population.visits()


def test_a_repin_is_of_an_earlier_picture_of_its_topic_by_another_owner(
    population: Population,
) -> None:
    root, pins = population.root, np.arange(population.shape.pins)
    repins = root != pins
    assert 0.3 < repins.mean() < 0.45
    assert (root[repins] < pins[repins]).all()
    assert (root[root] == root).all()
    assert (population.topic[root] == population.topic).all()
    assert (population.owner[root[repins]] != population.owner[repins]).all()


def test_pins_followers_and_pictures_have_heavy_tails(population: Population) -> None:
    followers = np.bincount([user for _, user in population.follows], minlength=200)
    for counts in (np.bincount(population.owner), followers, np.bincount(population.root)):
        assert counts.max() > 6 * counts.mean()


def test_tastes_drift_by_days_and_begin_with_the_own_topics(population: Population) -> None:
    changed = 0
    for user in range(200):
        assert population.tastes(user, 0) == set(population.topics_of[user, :2].tolist())
        changed += population.tastes(user, 6) != population.tastes(user, 0)
    assert 100 < changed < 180


def test_likes_and_visits_belong_to_their_time_and_users(population: Population) -> None:
    shape, viewers = population.shape, set(population.viewers)
    earlier, others = list(population.earlier_likes()), population.likes_of_others()
    assert len({like[1:] for like in earlier}) == len(earlier) > population.published
    assert all(population.at[like.pin] <= like.at < shape.begin for like in earlier)
    assert others
    for like in others:
        assert shape.begin <= like.at < shape.end
        assert like.at - 3 * DAY <= population.at[like.pin] <= like.at
        assert like.user not in viewers
    visits = population.visits()
    assert {visit.user for visit in visits} == viewers
    assert all(shape.begin <= visit.at < shape.end for visit in visits)


def test_the_interval_of_a_ratio_is_around_it() -> None:
    value, low, high = liking.ratio([4, 8, 2, 6] * 5, [2, 5, 1, 2] * 5)
    assert value == 2.0
    assert low < value < high
