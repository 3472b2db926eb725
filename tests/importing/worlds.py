"""Random import files as JSON Lines and bookmarks: small files for property tests, large files for
speed.

`python -m tests.importing.worlds pins 200000 > FILE` and `... bookmarks 10000 > FILE` write files
for trying an import.
"""

import html
import random
import string
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st

from gateway.operate.imports.jsonl import canonical, decode

START = datetime(2012, 1, 1, tzinfo=UTC).timestamp()
SPAN = 13 * 365 * 24 * 3600


def encode(line: dict[str, Any]) -> bytes:
    """A line as another program may write it: keys in any order, defaults written or omitted."""
    return msgspec.json.encode(line)


def canonical_set(data: bytes) -> set[bytes]:
    """The lines of a file, each in canonical form."""
    return {canonical(decode(line)) for line in data.splitlines() if line.strip()}


def time(seconds: float) -> str:
    """RFC 3339 to the millisecond."""
    return datetime.fromtimestamp(round(seconds, 3), UTC).isoformat(timespec="milliseconds")


def large(pins: int, seed: int = 1) -> Iterator[bytes]:
    """A file with `pins` pins in random order: a user for 200 pins, a board for 25, repins, likes,
    comments, follows and preferences, with most of them on few objects, and blocks."""
    rng = random.Random(seed)
    lines = list(_large(pins, rng))
    rng.shuffle(lines)
    return iter(lines)


def _large(pins: int, rng: random.Random) -> Iterator[bytes]:
    users, boards, interests = max(pins // 200, 3), max(pins // 25, 3), 12

    def moment() -> str:
        return time(START + rng.random() * SPAN)

    def some(count: int) -> int:
        """A number below `count`; lower numbers are more likely."""
        return int(count * rng.random() ** 3)

    for n in range(users):
        yield encode(
            {
                "type": "user",
                "key": f"u{n}",
                "username": f"user_{n}",
                "full_name": f"User {n}",
                "created": moment(),
            }
        )
    for n in range(interests):
        name = f"Interest {n}"
        yield encode({"type": "interest", "key": f"i{n}", "name": name, "slug": f"interest-{n}"})
    for n in range(boards):
        secret = {"secret": True} if n % 20 == 19 else {}
        yield encode(
            {
                "type": "board",
                "key": f"b{n}",
                "owner": f"u{n % users}",
                "name": f"Board {n}",
                "created": moment(),
                **secret,
            }
        )
        guest = {"board": f"b{n}", "user": f"u{(n + 1) % users}", "created": moment()}
        yield encode({"type": "collaborator", "invited": n % 3 == 2, **guest})
    pictures = [n for n in range(pins) if n % 5 != 4]
    for n in range(users):
        viewer = {"viewer": f"u{n}", "created": moment()}
        yield encode({"type": "mute", "user": f"u{(n + 2) % users}", **viewer})
        yield encode({"type": "hide", "pin": f"p{rng.choice(pictures)}", **viewer})
        see = rng.choice(("less", "more"))
        yield encode({"type": "preference", "see": see, "board": f"b{some(boards)}", **viewer})
        # Nobody follows these users, and they are on no board: so a block ends nothing.
        stranger = {"key": f"x{n}", "username": f"user_x{n}"}
        yield encode({"type": "user", "created": moment(), **stranger})
        yield encode({"type": "block", "user": f"x{n}", **viewer})
    for n in range(pins):
        line: dict[str, Any] = {
            "type": "pin",
            "key": f"p{n}",
            "board": f"b{some(boards)}",
            "title": "".join(rng.choices(string.ascii_letters + "      äöü", k=30)),
            "description": f"Pin number {n} of this world",
            "link": f"https://example.com/{n}",
            "image": {
                "url": f"https://images.example.com/{n}.jpg",
                "width": 600,
                "height": 400 + n % 500,
                "color": f"#{rng.randrange(1 << 24):06x}",
            },
            "interests": [f"i{rng.randrange(interests)}"],
            "created": moment(),
        }
        if n % 7 == 6:
            line["owner"] = f"u{(int(line['board'][1:]) + 1) % users}"
        if n % 5 == 4:
            line["source"] = f"p{rng.randrange(n)}"
        yield encode(line)
    for name, count in (("like", pins // 2), ("comment", pins // 20), ("follow", users * 10)):
        seen = set()
        for n in range(count):
            user, pin = rng.randrange(users), some(pins)
            if name == "comment":
                words = {"key": f"c{n}", "text": f"Comment {n}", "author": f"u{user}"}
                yield encode({"type": name, "pin": f"p{pin}", "created": moment(), **words})
                continue
            target = {"pin": f"p{pin}"}
            if name == "follow":
                kind, total = rng.choice(
                    (("user", users), ("board", boards), ("interest", interests))
                )
                target = {kind: f"{kind[0]}{some(total)}"}
            who = f"u{user}"
            same = (who, *target.values())
            if same in seen or target.get("user") == who:
                continue
            seen.add(same)
            subject = {"user": who} if name == "like" else {"follower": who}
            yield encode({"type": name, **subject, **target, "created": moment()})


def bookmarks(links: int, seed: int = 1) -> Iterator[bytes]:
    """A browser's export with `links` links in nested folders."""
    rng = random.Random(seed)
    yield (
        b"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n"
        b'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">\n'
        b"<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n<DL><p>\n"
        b'    <DT><H3 ADD_DATE="1300000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks bar</H3>\n'
        b"    <DL><p>\n"
    )
    depth = 0
    for n in range(links):
        if n % 40 == 20:
            if depth and rng.random() < 0.6:
                depth -= 1
                yield b"</DL><p>\n"
            if depth < 4:
                depth += 1
                name = html.escape(f"Folder {n} & <more>")
                yield f'<DT><H3 ADD_DATE="{1300000000 + n}">{name}</H3>\n<DL><p>\n'.encode()
        icon = "iVBORw0KGgoAAAANSUhEUg" * rng.randrange(5, 40)
        yield (
            f'<DT><A HREF="https://example.com/{n}?a=1&amp;b={n}" ADD_DATE="{1300000000 + n // 3}" '
            f'ICON="data:image/png;base64,{icon}">Link {n} &mdash; caf\u00e9</A>\n'
        ).encode()
        if n % 7 == 0:
            yield f"<DD>Description of link {n}\n".encode()
    yield b"</DL><p>\n" * (depth + 2)


# ------------------------------------------------------------------ small random worlds

_BLANK = "\u115f\u1160\u2800\u3164\uffa0\U0001d159"  # letters and symbols without ink
_WORDS = ("L", "N", "P", "S")
_text = st.text(
    st.characters(codec="utf-8", categories=(*_WORDS, "Zs"), exclude_characters=_BLANK),
    min_size=0,
    max_size=12,
)
_words = st.text(
    st.characters(codec="utf-8", categories=_WORDS, exclude_characters=_BLANK),
    min_size=1,
    max_size=12,
)
_time = st.one_of(st.none(), st.integers(1, 10**13 - 1).map(lambda ms: time(ms / 1000)))
_few_times = st.one_of(st.none(), st.integers(1, 3).map(lambda ms: time(ms / 1000)))
_image = st.fixed_dictionaries(
    {"url": st.sampled_from(["https://example.com/a.png", "/images/brands/x.svg"])},
    optional={
        "width": st.integers(1, 100_000),
        "height": st.integers(1, 100_000),
        "color": st.integers(0, (1 << 24) - 1).map("#{:06x}".format),
    },
)


@st.composite
def worlds(draw: st.DrawFn) -> list[bytes]:
    """The lines of a small valid file, in any order."""

    def objects(kind: str, count: int, **fields: st.SearchStrategy[Any]) -> list[dict[str, Any]]:
        keys = draw(st.lists(_words, min_size=count, max_size=count, unique=True))
        return [
            {"type": kind, "key": key, **_given({n: draw(s) for n, s in fields.items()})}
            for key in keys
        ]

    def key_of(some: list[dict[str, Any]]) -> st.SearchStrategy[str]:
        return st.sampled_from([it["key"] for it in some])

    users = objects(
        "user",
        draw(st.integers(1, 4)),
        full_name=_text,
        about=_text,
        avatar=st.none() | _image,
        created=_time,
    )
    for n, user in enumerate(users):
        user["username"] = f"user_{n}"
    interests = objects("interest", draw(st.integers(0, 3)), name=_words, created=_time)
    for n, interest in enumerate(interests):
        interest["slug"] = f"interest-{n}"
    boards = objects(
        "board",
        draw(st.integers(0, 4)),
        owner=key_of(users),
        name=_words,
        description=_text,
        secret=st.booleans(),
        created=_time,
    )
    sections = list[dict[str, Any]]()
    if boards:
        sections = objects(
            "section",
            draw(st.integers(0, 4)),
            board=key_of(boards),
            name=_words,
            created=_few_times,
        )
    pins: list[dict[str, Any]] = []
    if boards:
        pins = objects(
            "pin",
            draw(st.integers(0, 8)),
            board=key_of(boards),
            title=_text,
            description=_text,
            link=st.none() | st.just("https://example.com/?q=%20"),
            image=st.none() | _image,
            created=_few_times,
            interests=st.just([])
            if not interests
            else st.lists(key_of(interests), max_size=3, unique=True),
        )
    for n, pin in enumerate(pins):
        if n and draw(st.booleans()):
            pin["source"] = pins[draw(st.integers(0, n - 1))]["key"]
        by = draw(key_of(users))
        if all(it["owner"] != by for it in boards if it["key"] == pin["board"]):
            pin["owner"] = by
        if draw(st.integers(0, 3)) == 0:
            pin["sequence"] = str(draw(st.integers(1, 10**38 - 1)) // 100 * 100 + n + 1)
        if parts := [it for it in sections if it["board"] == pin["board"]]:
            pin["section"] = draw(key_of(parts))
            if draw(st.booleans()):
                place = draw(st.integers(1, 10**38 - 1)) // 100 * 100 + n + 1
                pin["section_sequence"] = str(place)
    for board in boards:
        mine = [pin["key"] for pin in pins if pin["board"] == board["key"]]
        if mine and draw(st.booleans()):
            board["cover"] = draw(st.sampled_from(mine))
    lines = [*users, *interests, *boards, *sections, *pins]
    for board in boards:
        for user in users:
            if user["key"] != board["owner"] and draw(st.booleans()):
                member = {"type": "collaborator", "board": board["key"], "user": user["key"]}
                given = {"invited": draw(st.booleans()), "created": draw(_time)}
                lines.append({**member, **_given(given)})
    if pins:
        lines += objects(
            "comment",
            draw(st.integers(0, 3)),
            pin=key_of(pins),
            author=key_of(users),
            text=_words,
            created=_time,
        )
    lines += _likes_and_follows(draw, users, boards, pins, interests)
    lines = [*_apart(draw, users, boards, lines)]
    lines += _preferences(draw, users, boards, pins, interests)
    return draw(st.permutations([encode(line) for line in lines]))


def _likes_and_follows(
    draw: st.DrawFn,
    users: list[dict[str, Any]],
    boards: list[dict[str, Any]],
    pins: list[dict[str, Any]],
    interests: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    for user in users:
        for kind, targets in (
            ("like", pins),
            ("user", users),
            ("board", boards),
            ("interest", interests),
        ):
            for target in targets:
                if target is user or not draw(st.booleans()):
                    continue
                edge = {"created": draw(_time)}
                if kind == "like":
                    edge |= {"type": "like", "user": user["key"], "pin": target["key"]}
                else:
                    edge |= {"type": "follow", "follower": user["key"], kind: target["key"]}
                yield _given(edge)


def _apart(
    draw: st.DrawFn,
    users: list[dict[str, Any]],
    boards: list[dict[str, Any]],
    lines: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Some blocks, and the lines without the follows and memberships that these blocks end."""
    owners = {board["key"]: board["owner"] for board in boards}
    apart = set[frozenset[str]]()
    for user in users:
        for other in users:
            if other is not user and draw(st.integers(0, 4)) == 0:
                apart.add(frozenset((user["key"], other["key"])))
                edge = {"type": "block", "viewer": user["key"], "user": other["key"]}
                yield _given({**edge, "created": draw(_time)})
    for line in lines:
        owner = owners.get(line.get("board", ""), "")
        pair = frozenset()
        if line["type"] == "collaborator":
            pair = frozenset((line["user"], owner))
        elif line["type"] == "follow":
            pair = frozenset((line["follower"], line.get("user", owner)))
        if pair not in apart:
            yield line


def _preferences(
    draw: st.DrawFn,
    users: list[dict[str, Any]],
    boards: list[dict[str, Any]],
    pins: list[dict[str, Any]],
    interests: list[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Mutes, hidden pins that are no repins, and what users see less and more of."""
    pictures = [pin for pin in pins if "source" not in pin]
    kinds = {"user": ["mute", "less", "more"], "pin": ["hide"]}
    for user in users:
        for target in (*users, *boards, *pictures, *interests):
            kind = target["type"]
            chosen = draw(st.sampled_from([None, *kinds.get(kind, ["less", "more"])]))
            if chosen is None or target is user:
                continue
            line = {"viewer": user["key"], kind: target["key"], "created": draw(_time)}
            tuned = {"type": "preference", "see": chosen}
            yield _given({**line, **(tuned if chosen in ("less", "more") else {"type": chosen})})


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


if __name__ == "__main__":
    made = {"pins": large, "bookmarks": bookmarks}[sys.argv[1]](int(sys.argv[2]))
    end = b"\n" if sys.argv[1] == "pins" else b""
    for piece in made:
        sys.stdout.buffer.write(piece + end)
