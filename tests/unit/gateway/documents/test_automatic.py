"""Documents that clients registered by their hashes: bounded in number and in bytes."""

from gateway.documents.automatic import AutomaticDocuments, digest_of


def test_a_text_is_found_by_its_hash_alone() -> None:
    documents = AutomaticDocuments(10)
    digest = digest_of("{ a }")
    assert digest == "1c7e1e347f726166b5b1c55afd61f278cc9b45e00c108ec33d540a566379811b"
    assert documents.text(digest) is None
    documents.add(digest, "{ a }")
    assert documents.text(digest) == "{ a }"
    assert documents.text(digest.upper()) is None


def test_a_flood_of_texts_stays_within_both_bounds_and_evicts_none_that_is_in_use() -> None:
    documents = AutomaticDocuments(80, max_bytes=40_000)
    used = "{ used }"
    documents.add(digest_of(used), used)
    assert documents.text(digest_of(used)) == used
    for number in range(2_000):
        text = f"{{ {'a' * (number % 500)}{number} }}"
        documents.add(digest_of(text), text)
        assert len(documents) <= 80
        assert documents.bytes <= 40_000
    assert documents.text(digest_of(used)) == used


def test_a_text_larger_than_the_bound_is_not_kept() -> None:
    documents = AutomaticDocuments(10, max_bytes=1_000)
    text = "{ " + "a" * 2_000 + " }"
    documents.add(digest_of(text), text)
    assert (len(documents), documents.bytes) == (0, 0)


def test_a_text_is_registered_once() -> None:
    documents = AutomaticDocuments(10)
    for _ in range(3):
        documents.add("0" * 64, "{ a }")
    before = documents.bytes
    documents.add("0" * 64, "{ a }")
    assert (len(documents), documents.bytes) == (1, before)
