"""Writes to the old database like an old site: random inserts, changes, moves and deletes of rows
of all kinds, some of them in transactions, some of them refused."""

import asyncio
import threading
from random import Random

from datasources.mysql.link import Link, Login, connect
from datasources.mysql.server import DRIVER_ERRORS
from tests.migration.old_world import HUGE

_BIG = 1 << 37
_DUPLICATE, _READ_ONLY = 1062, 1290
_TIMES = ("NULL", "'0000-00-00'", "'2012-02-30'", "'2015-06-07 08:09:10'", "'1969-01-01'")
_BYTES = ("NULL", "x'ff41'", "'tea'", "x'E282AC'", "REPEAT('y', 3000)")


class OldSite:
    """Use it as a context manager: it writes until the end of the block."""

    def __init__(self, port: int, seed: str, *, pause: float = 0.002, user: str = "root") -> None:
        self._port, self._random, self._pause = port, Random(seed), pause
        self._user = user
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run_all)
        self._error: BaseException | None = None
        self.written = 0
        self.refused = False

    def __enter__(self) -> "OldSite":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run_all(self) -> None:
        try:
            asyncio.run(self._write())
        except BaseException as error:
            self._error = error

    async def _write(self) -> None:
        link = await connect(
            Login("127.0.0.1", self._port, self._user, ""), autocommit=True, deadline=60
        )
        try:
            await link.run("SET sql_mode = ''; USE old")
            while not self._ends.is_set():
                count = self._random.choice((1, 1, 1, 2, 5))
                statements = [self._statement() for _ in range(count)]
                if count > 1:
                    end = self._random.choice(("COMMIT", "COMMIT", "ROLLBACK"))
                    statements = ["BEGIN", *statements, end]
                for statement in statements:
                    await self._run(link, statement)
                await asyncio.sleep(self._pause)
        finally:
            link.close()

    async def _run(self, link: Link, statement: str) -> None:
        try:
            found = await link.run(statement)
            self.written += found.matched
        except DRIVER_ERRORS as error:
            self.refused |= error.args[0] == _READ_ONLY
            if error.args[0] not in (_DUPLICATE, _READ_ONLY):
                raise

    def _statement(self) -> str:
        choose = self._random.choice
        member, other, album, pin = self._member(), self._member(), self._album(), self._pin()
        time, text = choose(_TIMES), choose(_BYTES)
        return choose(
            (
                f"INSERT INTO members VALUES ({member}, {self._login()}, 'New', {text}, {time})",
                f"UPDATE members SET login = {self._login()} WHERE id = {member}",
                f"UPDATE members SET bio = {text}, joined = {time} WHERE id = {member}",
                f"UPDATE members SET id = {other} WHERE id = {member}",
                f"DELETE FROM members WHERE id = {member}",
                f"REPLACE INTO members VALUES ({member}, {self._login()}, '', {text}, {time})",
                f"INSERT INTO albums VALUES ({album}, {member}, 'An album', 1, 1)",
                f"UPDATE albums SET title = {text}, is_public = {choose((0, 1))} "
                f"WHERE id = {album}",
                f"UPDATE albums SET member_id = {member} WHERE id = {album}",
                f"UPDATE albums SET id = {self._album()} WHERE id = {album}",
                f"DELETE FROM albums WHERE id = {album}",
                f"INSERT INTO bookmarks VALUES ({pin}, {album}, 'A pin', {text}, 'http://x.org/1', "
                f"{choose((1, 1, 2, 7))}, {self._pin()}, {time})",
                f"UPDATE bookmarks SET album_id = {album} WHERE id = {pin}",
                f"UPDATE bookmarks SET position = {choose((1, 2, 3, 99))} WHERE id = {pin}",
                f"UPDATE bookmarks SET headline = {choose(('NULL', text))} WHERE id = {pin}",
                f"UPDATE bookmarks SET copied_from = {choose(('NULL', '0', self._pin()))} "
                f"WHERE id = {pin}",
                f"UPDATE bookmarks SET headline = 'spam' WHERE id = {pin}",
                f"UPDATE bookmarks SET id = {self._pin()} WHERE id = {pin}",
                f"DELETE FROM bookmarks WHERE id = {pin}",
                f"INSERT INTO likes VALUES ({member}, {pin}, {time})",
                f"UPDATE likes SET at = {time} WHERE member_id = {member}",
                f"DELETE FROM likes WHERE bookmark_id = {pin}",
                f"INSERT INTO remarks VALUES ({self._remark()}, {pin}, {member}, {text})",
                f"UPDATE remarks SET words = {text}, bookmark_id = {pin} "
                f"WHERE id = {self._remark()}",
                f"DELETE FROM remarks WHERE id = {self._remark()}",
                f"INSERT INTO friends VALUES ({member}, {other})",
                f"DELETE FROM friends WHERE a = {member}",
                f"UPDATE friends SET b = {other} WHERE a = {member} AND b = {self._member()}",
            )
        )

    def _member(self) -> int:
        return self._random.choice((1, HUGE, 1001 + self._random.randrange(12)))

    def _album(self) -> int:
        return self._random.choice((1, 2, _BIG + 1, 1001 + self._random.randrange(20)))

    def _pin(self) -> int:
        few = self._random.randrange(60)
        return self._random.choice((1, HUGE, _BIG + few, 1001 + few, 1001 + few))

    def _remark(self) -> str:
        return f"x'00ff0{self._random.randrange(10)}00'"

    def _login(self) -> str:
        return self._random.choice(
            ("'Ann'", "'bob'", "'no name'", f"'u{self._random.randrange(30)}'")
        )
