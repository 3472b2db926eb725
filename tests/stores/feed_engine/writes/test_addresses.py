"""Addresses that a reader and a browser would take for different ones are refused."""

import pytest

from datasources.errors import BadInput
from datasources.records import Image
from feed_engine.transactions.validation import image, link


@pytest.mark.parametrize("value", ["http://a\\@b/", "https://a/b\\..\\c", "https:\\\\a/b"])
def test_a_link_with_a_backslash_is_refused(value: str) -> None:
    with pytest.raises(BadInput):
        link(value, "link")


@pytest.mark.parametrize(
    "value",
    ["https://bank.example@a.example/", "https://a.example/\u202ex", "https://a\u200b.example/"],
)
def test_a_link_that_reads_as_another_is_refused(value: str) -> None:
    with pytest.raises(BadInput):
        link(value, "link")
    with pytest.raises(BadInput):
        image(Image(value), "image")
    with pytest.raises(BadInput):
        image(Image(f"/images/{value[-3:]}\u202e"), "image")


@pytest.mark.parametrize(
    "path",
    [
        "/images/../metrics",
        "/images/%2e%2e/metrics",
        "/images/%2E./x",
        "/images/%252e%252e/metrics",
    ],
)
def test_a_picture_is_no_way_to_another_path(path: str) -> None:
    with pytest.raises(BadInput):
        image(Image(path), "image")


def test_plain_addresses_are_taken_as_they_are() -> None:
    assert link("https://a.example/b%20c?d=%2e%2e", "link") == "https://a.example/b%20c?d=%2e%2e"
