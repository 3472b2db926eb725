"""The old database of the migration's tests: its schema, its mapping, and rows of all kinds."""

import asyncio
from pathlib import Path
from typing import Any

from datasources.mysql.link import Login, connect

USER, PASSWORD = "reader", "secret"
SCHEMA = (
    """CREATE TABLE members (
        id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, login VARCHAR(80) NOT NULL UNIQUE,
        real_name VARCHAR(300), bio BLOB, joined DATETIME)""",
    """CREATE TABLE albums (
        id BIGINT UNSIGNED PRIMARY KEY, member_id BIGINT UNSIGNED, title VARCHAR(300),
        is_public VARCHAR(10), made INT)""",
    """CREATE TABLE bookmarks (
        id BIGINT UNSIGNED PRIMARY KEY, album_id BIGINT UNSIGNED, headline TEXT,
        note VARCHAR(100) CHARACTER SET latin1, url TEXT, position INT, copied_from BIGINT,
        added TIMESTAMP(3) NULL)""",
    """CREATE TABLE likes (
        member_id BIGINT UNSIGNED, bookmark_id BIGINT UNSIGNED, at DATETIME,
        PRIMARY KEY (member_id, bookmark_id))""",
    """CREATE TABLE remarks (
        id BINARY(4) PRIMARY KEY, bookmark_id BIGINT UNSIGNED, member_id BIGINT UNSIGNED,
        words TEXT)""",
    """CREATE TABLE friends (a BIGINT UNSIGNED, b BIGINT UNSIGNED, PRIMARY KEY (a, b))""",
    "CREATE TABLE log (line TEXT)",
)
MAPPING = """\
name: old-site
source: mysql://{user}@127.0.0.1:{port}/old
tables:
  - table: members
    becomes: user
    columns:
      key: id
      username: login
      full_name: real_name
      about: bio
      created: joined
  - table: albums
    becomes: board
    columns:
      key: id
      owner: member_id
      name: title
      secret: {{column: is_public, inverted: true}}
      created: {{column: made, unit: seconds}}
  - table: bookmarks
    becomes: pin
    where: headline NOT LIKE '%spam%'
    columns:
      key: id
      board: album_id
      title: headline
      description: {{column: note, charset: utf-8}}
      link: url
      sequence: {{column: position, first: lowest}}
      source: copied_from
      created: added
  - table: likes
    becomes: like
    columns: {{user: member_id, pin: bookmark_id, created: at}}
  - table: remarks
    becomes: comment
    columns: {{key: id, pin: bookmark_id, author: member_id, text: words}}
  - table: friends
    becomes: follow
    columns: {{follower: a, user: b}}
"""
COVER = """name: title
      cover: cover
"""
HUGE = (1 << 63) + 5  # an old id above 2^36, and above a signed 64-bit number
ROWS = (
    "INSERT INTO members VALUES (1, 'Ann', 'Ann Lee', 'tea', '2010-05-01 08:00:00'), "
    f"({HUGE}, 'bob', NULL, x'6e6f20ff21', '0000-00-00 00:00:00'), "
    "(3, 'not a name', 'Eve', NULL, NULL)",
    f"INSERT INTO albums VALUES (1, 1, 'Tea', 1, 1300000000), (2, {HUGE}, '', 0, NULL), "
    "(3, 1, NULL, NULL, 1), (4, 77, 'Lost', 1, 1), (5, 1, 'Ours', 'friends', 1)",
    "INSERT INTO bookmarks VALUES "
    "(1, 1, 'Gyokuro', 'two', 'https://example.com/1', 2, NULL, '2012-01-01 00:00:00.250'), "
    f"({HUGE}, 1, REPEAT('x', 600), x'C3A9', 'see the book', 1, 1, NULL), "
    "(3, 2, 'hidden', '', '', 1, 0, NULL), (4, 99, 'lost', '', '', 1, NULL, NULL), "
    "(5, 1, 'spam', '', '', 9, NULL, NULL), (6, 1, 'same place', '', '', 2, NULL, NULL)",
    f"INSERT INTO likes VALUES (1, {HUGE}, '2015-00-00'), (1, 4, NULL), (3, 1, NULL)",
    "INSERT INTO remarks VALUES (x'00ff0102', 1, 1, 'Seventy degrees?'), (x'00000001', 1, 1, '')",
    f"INSERT INTO friends VALUES (1, {HUGE}), (1, 1), ({HUGE}, 1), (1, 3)",
)
CHANGES = (
    "UPDATE members SET real_name = 'Ann B', login = 'ann_b', bio = x'ff41' WHERE id = 1",
    "UPDATE members SET joined = '0000-00-00' WHERE id = 1001",
    "UPDATE members SET login = 'old_ann' WHERE id = 1002",
    "DELETE FROM members WHERE id = 1003",
    "UPDATE albums SET title = 'Tee', is_public = 'no' WHERE id = 1",
    "UPDATE albums SET member_id = 1005 WHERE id = 1010",  # with its pins
    "DELETE FROM albums WHERE id = 1011",
    "UPDATE albums SET made = 1400000000 WHERE id = 1012",
    f"UPDATE bookmarks SET album_id = 5, headline = NULL, position = 3 WHERE id = {HUGE}",
    "UPDATE bookmarks SET album_id = 1013 WHERE id = 1020",  # to another owner
    "UPDATE bookmarks SET position = 77 WHERE id = 1030",
    "UPDATE bookmarks SET id = 5000000000000, added = '2020-02-02' WHERE id = 1022",
    "UPDATE bookmarks SET headline = 'now spam' WHERE id = 1023",  # `where` leaves it out
    "UPDATE bookmarks SET headline = 'no longer' WHERE id = 5",
    "UPDATE bookmarks SET copied_from = 1030 WHERE id = 1025",
    "DELETE FROM bookmarks WHERE id = 1024",
    "DELETE FROM likes WHERE bookmark_id = 1001",
    "UPDATE likes SET at = '2019-01-01' WHERE bookmark_id = 1002",
    "INSERT INTO likes VALUES (1, 6, NULL)",
    "UPDATE remarks SET words = 'Eighty' WHERE id = x'00ff0102'",
    "UPDATE remarks SET words = 'No longer empty' WHERE id = x'00000001'",
    f"DELETE FROM friends WHERE a = {HUGE}",
    "INSERT INTO friends VALUES (1, 1001)",
    "INSERT INTO members VALUES (2, 'late', '', NULL, NULL)",
    "INSERT INTO albums VALUES (77, 2, 'Late', 1, 1)",
    "INSERT INTO bookmarks VALUES (2, 77, 'Late', '', '', 1, 1001, NULL)",
    # what was left out, because it referred to missing rows
    "INSERT INTO members VALUES (77, 'found', '', NULL, NULL)",
    "UPDATE members SET login = 'a_name' WHERE id = 3",
)
"""Changes of rows of all kinds, made with `ROWS` and `many` in the tables."""


class OldDatabase:
    """The old database on the server at a port."""

    def __init__(self, port: int) -> None:
        self.port = port

    def run(self, *statements: str, user: str = "root") -> None:
        """Run statements (as the administrator), with the checks of an old server: none."""
        asyncio.run(self._run(statements, user))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, texts as str."""
        return asyncio.run(self._rows(query))

    def connections(self) -> int:
        """The number of connections that the server has had."""
        [(_, count)] = self.rows("SHOW GLOBAL STATUS LIKE 'Connections'")
        return int(count)

    def mapping(self, folder: Path, *, changed: dict[str, str] | None = None) -> Path:
        """The mapping file, with texts replaced."""
        text = MAPPING.format(user=USER, port=self.port)
        for before, after in (changed or {}).items():
            assert before in text, before
            text = text.replace(before, after, 1)
        file = folder / "migration.yaml"
        file.write_text(text)
        return file

    def mapping_of_way_back(self, folder: Path, changed: dict[str, str] | None = None) -> Path:
        """Fill the tables, and let the mapping's user write, also while the server is read-only.
        Returns the mapping file, which has a column for each reference."""
        self.run(
            "USE old",
            *ROWS,
            *many(members=12, albums=20, bookmarks=60),
            "ALTER TABLE albums ADD cover BIGINT UNSIGNED",
            "ALTER TABLE bookmarks MODIFY copied_from BIGINT UNSIGNED",
            f"GRANT INSERT, UPDATE, DELETE ON old.* TO '{USER}'@'127.0.0.1'",
            f"GRANT RELOAD, READ ONLY ADMIN ON *.* TO '{USER}'@'127.0.0.1'",
            "CREATE OR REPLACE USER site@127.0.0.1",
            "GRANT ALL ON old.* TO site@127.0.0.1",
        )
        return self.mapping(folder, changed={"name: title\n": COVER, **(changed or {})})

    async def _rows(self, query: str) -> list[tuple[Any, ...]]:
        link = await connect(
            Login("127.0.0.1", self.port, "root", ""), autocommit=True, deadline=60
        )
        try:
            return [tuple(row.values()) for row in await link.described(query)]
        finally:
            link.close()

    async def _run(self, statements: tuple[str, ...], user: str) -> None:
        login = Login("127.0.0.1", self.port, user, "", foreign=True)
        link = await connect(login, autocommit=True, deadline=60)
        try:
            await link.run("SET sql_mode = ''")
            for statement in statements:
                await link.run(statement)
        finally:
            link.close()


def many(*, members: int, albums: int, bookmarks: int) -> list[str]:
    """Statements that make rows, with numbers from 1,001."""
    return [
        "INSERT INTO members SELECT 1000 + seq, CONCAT('user', seq), NULL, NULL, '2011-01-01' "
        f"FROM seq_1_to_{members}",
        f"INSERT INTO albums SELECT 1000 + seq, 1001 + seq % {members}, CONCAT('Album ', seq), "
        f"seq % 3, seq FROM seq_1_to_{albums}",
        f"INSERT INTO bookmarks SELECT 1000 + seq, 1001 + seq % {albums}, CONCAT('Pin ', seq), '', "
        f"CONCAT('https://example.com/', seq), seq, IF(seq % 4, NULL, 999 + seq), NULL "
        f"FROM seq_1_to_{bookmarks}",
        f"INSERT INTO likes SELECT DISTINCT 1001 + seq % {members}, 1000 + seq, NULL "
        f"FROM seq_1_to_{bookmarks // 2}",
    ]
