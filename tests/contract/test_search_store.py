"""The search store's contract, over the embedded index and over OpenSearch."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from secrets import token_hex

import pytest

from datasources.errors import StoreConflict, StoreUnavailable
from datasources.ids import Kind, compose
from datasources.protocols import (
    Document,
    IndexState,
    IndexTimes,
    SearchRequest,
    SearchStore,
)
from tests.contract.search_stores import indexes, opened
from tests.servers import opensearch_url

pytestmark = pytest.mark.anyio

BOARD = compose(1, Kind.BOARD, 1)


def pin(number: int) -> int:
    return compose(1, Kind.PIN, number)


@pytest.fixture(params=["tantivy", "opensearch"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "tantivy":
        return f"tantivy://{tmp_path}/search"
    return opensearch_url(request.getfixturevalue("engines"), f"t{token_hex(8)}")


@pytest.fixture
async def reopened(url: str) -> AsyncIterator[Callable[[], SearchStore]]:
    """Opens the store as another process does."""
    stores: list[SearchStore] = []

    def open_store() -> SearchStore:
        stores.append(opened(url))
        return stores[-1]

    yield open_store
    for store in stores:
        await store.close()


@pytest.fixture
def store(reopened: Callable[[], SearchStore]) -> SearchStore:
    return reopened()


async def build(store: SearchStore, *documents: Document, built: int = 1) -> None:
    async with store.rebuild(built) as new:
        await new.index(documents)


def titles(*texts: str) -> list[Document]:
    """Pins 1, 2, ... with these titles."""
    return [Document(pin(number), text) for number, text in enumerate(texts, 1)]


async def found(
    store: SearchStore, text: str, *, limit: int = 50, kinds: tuple[Kind, ...] = (), **rest: bool
) -> list[int]:
    """The local ids of the hits, best first."""
    hits = await store.search(SearchRequest(text, limit, kinds, **rest))
    return [hit.id & 0xFFFFFFFFF for hit in hits]


async def test_a_store_without_an_index_says_so(store: SearchStore) -> None:
    assert (await store.status()).state is IndexState.ABSENT
    assert await store.times() is None
    with pytest.raises(StoreUnavailable, match="no search index yet"):
        await store.search(SearchRequest("oak", 10))
    async with store.alone():
        with pytest.raises(StoreUnavailable):
            await store.write(titles("oak"), since=1, read_to=2)


async def test_all_words_are_found_in_title_and_body(store: SearchStore) -> None:
    documents = titles("red oak leaf", "red maple", "oak")
    await build(store, *documents, Document(pin(4), "a tree", "a red oak in autumn"))
    assert await found(store, "oak red") == [1, 4]
    assert await found(store, "maple oak") == []
    assert (await found(store, "oak"))[-1] == 4, "a title counts for more than a body"
    assert await found(store, "oak", limit=2) == (await found(store, "oak"))[:2]
    assert await store.search(SearchRequest("  ?! ", 10)) == []


async def test_case_accents_and_stems_make_no_difference(store: SearchStore) -> None:
    await build(store, *titles("Café Crème", "running shoes", "Crème fraîche"))
    assert await found(store, "CAFE") == [1]
    assert await found(store, "cafe\u0301") == [1], "a combining accent"
    assert store.roots(["ẹ̀kọ́", "За́мок", "İZMİR"]) == store.roots(["eko", "замок", "izmir"])
    assert await found(store, "run shoe") == [2]
    assert store.roots(["Running"])[0] & store.roots(["runs"])[0] == {"run"}
    assert not store.roots(["Running"])[0] & store.roots(["ruin"])[0]
    texts = ["", "oaks & Elms", "x" * 300, "\u0301", "Café", "京都", "½"]
    assert store.roots(texts) == [store.roots([text])[0] for text in texts]
    assert store.roots(texts)[:5] == [
        frozenset(),
        {"oaks", "oak", "elms", "elm"},
        frozenset(),
        frozenset(),
        {"cafe"},
    ]
    assert store.roots([]) == []


async def test_accents_that_no_letter_has_do_not_split_a_word(store: SearchStore) -> None:
    await build(store, *titles("I would go", "İzmir ẹ̀kọ́", "Старый за́мок", "Q̇ueue"))
    for text in ("İzmir", "izmir", "IZMIR", "eko", "ẹ̀kọ́"):
        assert await found(store, text) == [2], text
    assert await found(store, "замок") == await found(store, "ЗА́МОК") == [3]
    assert await found(store, "queue") == [4]
    assert await found(store, "i\u0307stanbul") == []


async def test_vowel_points_make_no_difference(store: SearchStore) -> None:
    await build(store, *titles("كِتَابٌ جَمِيلٌ", "أَحْمَد", "שָׁלוֹם", "بيـــت", "co\u00adoperate"))
    for text, number in (
        ("كتاب", 1),
        ("كِتَاب جميل", 1),
        ("احمد", 2),
        ("أحمد", 2),
        ("שלום", 3),
        ("بيت", 4),
        ("cooperate", 5),
    ):
        assert await found(store, text) == [number], text


async def test_words_of_indian_scripts_stay_whole(store: SearchStore) -> None:
    await build(store, *titles("हिन्दी भाषा", "हिन दी", "தமிழ்நாடு", "क़लम", "বাংলা"))
    assert await found(store, "हिन्दी") == [1]
    assert await found(store, "दी") == [2], "a part of a word is no word"
    assert await found(store, "தமிழ்நாடு") == [3]
    assert await found(store, "कलम") == await found(store, "क़लम") == [4]
    assert await found(store, "বাংলা") == [5]


async def test_the_last_sigma_of_a_word_is_a_sigma(store: SearchStore) -> None:
    await build(store, *titles("ως", "Οδυσσεύς", "oak"))
    assert await found(store, "ΩΣ") == [1]
    assert await found(store, "ΟΔΥΣΣΕΥΣ") == [2]


async def test_long_words_are_found_in_all_scripts(store: SearchStore) -> None:
    long = ["достопримечательность", "საქართველოსთვისაცაა", "अंतरराष्ट्रीयकरण", "a" * 40, "𐐨" * 30]
    await build(store, *titles(*long))
    for number, word in enumerate(long, 1):
        assert await found(store, word) == [number], word
        assert await found(store, word[:-1], prefix=True) == [number], word


async def test_scripts_without_spaces_are_found_by_their_characters(store: SearchStore) -> None:
    await build(store, *titles("京都の庭", "東京タワー"))
    assert await found(store, "京都") == [1]
    assert await found(store, "東京") == [2]


async def test_korean_words_are_found_with_their_particles(store: SearchStore) -> None:
    texts = [
        *(
            ("고양이가 좋아", ""),
            ("사진", "고양이는 잔다"),
            ("고양이", ""),
            ("고구마", "양이 많다"),
        ),
        *(("강아지와 고양", ""), ("차를 마신다", ""), ("자동차", "")),
    ]
    documents = [Document(id=pin(n), title=t, body=b) for n, (t, b) in enumerate(texts, 1)]
    await build(store, *documents)
    hits = await found(store, "고양이")
    assert hits[0] == 3, "the exact word comes first"
    assert sorted(hits) == [1, 2, 3]
    assert await found(store, "고양이가") == [1, 3], "the other is a typing error away"
    assert await found(store, "차") == [6]
    assert await found(store, "고양이 사진") == [2]
    assert sorted(await found(store, "고", prefix=True)) == [1, 2, 3, 4, 5]


async def test_other_letters_and_numbers_are_found_before_korean_particles(
    store: SearchStore,
) -> None:
    await build(store, *titles("BTS의 노래", "2024년 여름", "iPhone은", "btsx", "여름iPhone"))
    assert await found(store, "bts") == [1]
    assert await found(store, "2024") == [2]
    assert await found(store, "여름 2024년") == [2]
    assert sorted(await found(store, "iphone")) == [3, 5]
    assert sorted(await found(store, "ipho", prefix=True)) == [3, 5]


async def test_typing_errors_are_forgiven_and_exact_words_come_first(store: SearchStore) -> None:
    await build(store, *titles("cold", "gold ring", "mountain lake", "2024", "cat"))
    assert await found(store, "gold") == [2, 1]
    assert await found(store, "moutnain") == [3]
    assert await found(store, "muontian lake") == [3], "two errors in a long word"
    assert await found(store, "2025") == [], "a number has no typing errors"
    assert await found(store, "car") == [], "a short word has none either"


async def test_all_words_with_a_typing_error_are_found(store: SearchStore) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    near = {f"gold{a}" for a in letters} | {f"g{a}old" for a in letters}
    near |= {f"g{a}ld" for a in letters} | {f"gol{a}" for a in letters} | {"gold", "old", "gld"}
    await build(store, *titles(*sorted(near)))
    for prefix in (False, True):
        hits = await found(store, "gold", limit=1000, prefix=prefix)
        assert len(hits) == len(near), prefix


async def test_the_beginning_of_the_last_word_is_enough_for_a_prefix(store: SearchStore) -> None:
    await build(store, *titles("mountain lake", "lake house", "la mer"))
    assert set(await found(store, "la", prefix=True)) == {1, 2, 3}
    assert await found(store, "la", prefix=False) == [3]
    assert await found(store, "lake mount", prefix=True) == [1]
    assert await found(store, "mount lak", prefix=True) == [], "only the last word is unfinished"
    assert await found(store, "mountan", prefix=True) == [1], "with a typing error"


async def test_operators_of_query_languages_are_plain_text(store: SearchStore) -> None:
    await build(store, *titles("oak", "maple"))
    for text in (
        "oak OR maple",
        "title:maple",
        "-oak",
        "oak*",
        "oak~2",
        '"maple oak"',
        "(oak",
        "[a TO z]",
        "oak^9",
        "\\",
        "/.*/",
        "*",
        "\x00oak",
        "id:1 OR *:*",
    ):
        words = "".join(character if character.isalnum() else " " for character in text)
        assert await found(store, text) == await found(store, words), text


async def test_kinds_narrow_a_search(store: SearchStore) -> None:
    user = compose(2, Kind.USER, 7)
    await build(store, *titles("oak"), Document(BOARD, "oak"), Document(user, "oak"))
    assert await found(store, "oak", kinds=(Kind.USER,)) == [7]
    assert len(await found(store, "oak", kinds=(Kind.USER, Kind.PIN))) == 2
    assert len(await found(store, "oak")) == 3


async def test_the_weight_orders_documents_that_match_alike(store: SearchStore) -> None:
    weights = (1.0, 3.0, 2.0, 2.0)
    await build(store, *(Document(pin(n), "oak", weight=w) for n, w in enumerate(weights, 1)))
    hits = await found(store, "oak")
    assert (hits[0], hits[-1]) == (2, 1)
    for limit in (1, 2, 3):
        assert await found(store, "oak", limit=limit) == hits[:limit]


async def test_groups_have_sizes(store: SearchStore) -> None:
    copies = [Document(pin(n), "oak", group=pin(1)) for n in (1, 2, 3)]
    await build(store, *copies, Document(pin(9), "elm"))
    assert await store.group_sizes([pin(1), pin(9), pin(4)]) == {pin(1): 3, pin(9): 1, pin(4): 0}
    assert await store.group_sizes([pin(1)], but=[pin(2), pin(9), pin(77)]) == {pin(1): 2}
    assert {hit.group for hit in await store.search(SearchRequest("oak", 9))} == {pin(1)}


async def test_a_write_replaces_and_deletes_for_all_readers(
    store: SearchStore, reopened: Callable[[], SearchStore]
) -> None:
    there = reopened()
    on_board = [Document(pin(n), "fern", board_id=BOARD) for n in (5, 6)]
    await build(
        store, *titles("oak", "elm", "ash"), *on_board, Document(BOARD, "ferns", board_id=BOARD)
    )
    assert await found(there, "oak") == [1]
    async with store.alone():
        renamed = [Document(pin(1), "maple"), Document(pin(6), "fern", board_id=BOARD)]
        await store.write(
            renamed, delete=[pin(1), pin(2)], delete_boards=[BOARD], since=1, read_to=5
        )
        for reader in (store, there):
            assert await found(reader, "oak") == []
            assert await found(reader, "maple") == [1]
            assert await found(reader, "elm") == []
            assert await found(reader, "ash") == [3]
            assert await found(reader, "fern") == [6], "given and deleted: it is kept"
            assert await reader.times() == IndexTimes(built=1, read_to=5)
        await store.write([], since=5, read_to=8)
        assert await there.times() == IndexTimes(built=1, read_to=8)
        with pytest.raises(StoreConflict):
            await store.write(titles("oak"), since=5, read_to=9)
    assert await found(there, "oak") == []


async def test_one_process_writes_and_one_builds(
    store: SearchStore, reopened: Callable[[], SearchStore]
) -> None:
    there = reopened()
    async with store.alone(), store.rebuild(1):
        with pytest.raises(StoreConflict):
            async with there.alone():
                pass
        with pytest.raises(StoreConflict):
            async with there.rebuild(2):
                pass
    async with there.alone(), there.rebuild(3):
        pass


async def test_readers_and_the_writer_go_on_while_an_index_is_built(
    store: SearchStore, reopened: Callable[[], SearchStore]
) -> None:
    there = reopened()
    await build(store, *titles("oak"), built=1)
    async with there.alone():
        async with store.rebuild(7) as new:
            await new.index(titles("oak", "elm"))
            assert await found(there, "elm") == []
            await there.write([Document(pin(3), "ash")], since=1, read_to=2)
            assert await found(store, "ash") == [3]
        assert await found(there, "elm") == [2]
        assert await there.times() == IndexTimes(built=7, read_to=7)
        with pytest.raises(StoreConflict):
            await there.write(titles("fir"), since=2, read_to=9)
        await there.write([Document(pin(3), "ash")], since=7, read_to=9)
    assert await found(store, "ash") == [3]
    status = await store.status()
    assert (status.state, status.documents, status.read_to) == (IndexState.OK, 3, 9)
    assert status.bytes > 0


async def test_a_build_that_fails_leaves_the_index_in_use(store: SearchStore) -> None:
    await build(store, *titles("oak"))

    async def fail() -> None:
        async with store.rebuild(2) as new:
            await new.index(titles("elm"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await found(store, "oak") == [1]
    await build(store, *titles("elm"))
    assert await found(store, "elm") == [1]


BUILDER = """
import asyncio, sys
from datasources.protocols import Document
from tests.contract.search_stores import opened

async def main():
    async with opened(sys.argv[1], lease=1.0).rebuild(2) as new:
        await new.index([Document(int(sys.argv[2]), "elm")])
        print("building", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_a_killed_build_can_be_repeated(store: SearchStore, url: str) -> None:
    await build(store, *titles("oak"))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BUILDER, url, str(pin(1))),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"building\n"
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert await found(store, "oak") == [1]
    assert len(indexes(url)) == 2
    while True:
        try:
            await build(store, *titles("ash"), built=3)
            break
        except StoreConflict:  # until the killed process' right has ended
            await asyncio.sleep(0.1)
    assert await found(store, "ash") == [1]
    assert len(indexes(url)) == 1, "what the killed build left is gone"


async def test_searches_go_on_while_indexes_are_replaced(
    store: SearchStore, reopened: Callable[[], SearchStore]
) -> None:
    await build(store, *titles("oak"))
    there, answers, done = reopened(), list[list[int]](), False

    async def search() -> None:
        while not done:
            answers.append(await found(there, "oak"))

    searching = [asyncio.create_task(search()) for _ in range(4)]
    for built in range(2, 5):
        await build(store, *titles("oak"), built=built)
    done = True
    await asyncio.gather(*searching)
    assert answers
    assert all(answer == [1] for answer in answers)
