"""Checks between the lines of a file: duplicate keys and names, and references to missing lines.
Each fault is reported with its line. The line is left out, together with the lines that refer to
it."""

from feed_engine.writes import collaborators, sections
from gateway.operate.imports.choice_lists import LISTS
from gateway.operate.imports.report import Complaints
from gateway.operate.imports.spool import Spool

KINDS = {
    "users": "user",
    "interests": "interest",
    "boards": "board",
    "sections": "section",
    "pins": "pin",
    "comments": "comment",
}
"""The spool's tables of objects, which have keys, and the kind of their objects."""
_SOME = 10_000


def index(spool: Spool) -> None:
    """Create the indexes. Called when all lines are stored: sorting once is cheaper than keeping
    sorted."""
    for table in KINDS:
        spool.db.execute(f"CREATE INDEX IF NOT EXISTS {table}_key ON {table} (key)")
    for table, columns in (
        ("users", "name"),
        ("interests", "name"),
        ("boards", "owner"),
        ("sections", "board, sequence"),
        ("collaborators", "board, user"),
        ("pins", "board, sequence"),
        ("pins", "wave"),
        ("pin_interests", "pin"),
        ("pin_sections", "section, sequence"),
        ("likes", "user, pin"),
        ("follows", "follower, kind, target"),
        ("choices", "viewer, what, kind, target"),
    ):
        name = f"{table}_{columns.replace(', ', '_')}"
        spool.db.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({columns})")
    for column in ("owner", "source"):
        where = f"ON pins ({column}) WHERE {column} IS NOT NULL"
        spool.db.execute(f"CREATE INDEX IF NOT EXISTS pins_{column} {where}")


def doubles(spool: Spool, complaints: Complaints) -> None:
    """Find lines that repeat an earlier line; the first line stays."""
    for table in KINDS:
        what = KINDS[table]
        _drop_later(spool, complaints, table, "key", f"{what} {{0!r}} is there already")
    _drop_later(spool, complaints, "users", "name", "user name {0!r} is there already")
    _drop_later(spool, complaints, "interests", "name", "slug {0!r} is there already")
    place = "sequence {1} on board {0!r} is another pin's already"
    _drop_later(spool, complaints, "pins", "board, sequence", place)
    place = "sequence {1} on board {0!r} is another section's already"
    _drop_later(spool, complaints, "sections", "board, sequence", place)
    place = "section_sequence {1} in section {0!r} is another pin's already: made without a section"
    _drop_later(spool, complaints, "pin_sections", "section, sequence", place)
    place = "{1!r} is on board {0!r} already"
    _drop_later(spool, complaints, "collaborators", "board, user", place)
    _drop_later(spool, complaints, "likes", "user, pin", "{0!r} likes {1!r} already")
    _drop_later(
        spool, complaints, "follows", "follower, kind, target", "{0!r} follows {1} {2!r} already"
    )
    message = "{0!r} has a {1} of {2} {3!r} already"
    _drop_later(spool, complaints, "choices", "viewer, what, kind, target", message)


def references(spool: Spool, complaints: Complaints) -> None:
    """Leave out lines that refer to an object that the file does not have, or that was left out."""
    _dangling(spool, complaints, "boards", "owner", "users")
    _dangling(spool, complaints, "pins", "board", "boards")
    _dangling(spool, complaints, "pins", "owner", "users", "AND f.owner IS NOT NULL")
    _dangling(spool, complaints, "sections", "board", "boards")
    _crowded(spool, complaints, "sections", "board", sections.MOST, "sections")
    _collaborators(spool, complaints)
    reject(
        spool,
        complaints,
        "pins",
        "SELECT p.n, p.line, i.interest FROM pins p JOIN pin_interests i ON i.pin = p.n "
        "WHERE NOT EXISTS (SELECT 1 FROM interests WHERE key = i.interest) GROUP BY p.n",
        "there is no interest {0!r}",
    )
    _sources(spool, complaints)
    _dangling(spool, complaints, "comments", "pin", "pins")
    _dangling(spool, complaints, "comments", "author", "users")
    _dangling(spool, complaints, "likes", "user", "users")
    _dangling(spool, complaints, "likes", "pin", "pins")
    _dangling(spool, complaints, "follows", "follower", "users")
    for kind in ("user", "board", "interest"):
        _dangling(spool, complaints, "follows", "target", f"{kind}s", f"AND f.kind = '{kind}'")
    _choices(spool, complaints)
    _covers(spool, complaints)
    _sections(spool, complaints)


def reject(
    spool: Spool,
    complaints: Complaints,
    table: str,
    select: str,
    message: str,
    args: tuple[object, ...] = (),
    *,
    line_last: bool = False,
) -> None:
    """Report the rows (n, line, *the message's values), and leave them out. A row is reported
    first, so that a kept spool loses no report when the process dies in between. `line_last`: the
    last value is the number of a line."""
    some = f"SELECT * FROM ({select}) ORDER BY n LIMIT {_SOME}"
    while bad := spool.db.execute(some, args).fetchall():
        for n, line, *shown in bad:
            if line_last:
                shown[-1] = complaints.place(shown[-1])
            complaints.add(line, message.format(*shown))
            spool.db.execute(f"DELETE FROM {table} WHERE n = ?", (n,))


def _drop_later(
    spool: Spool, complaints: Complaints, table: str, columns: str, message: str
) -> None:
    same = " AND ".join(f"a.{column} = b.{column}" for column in columns.split(", "))
    shown = ", ".join(f"b.{column}" for column in columns.split(", "))
    first = f"(SELECT min(a.line) FROM {table} a WHERE {same} AND a.n < b.n)"
    select = f"SELECT b.n, b.line, {shown}, {first} AS first FROM {table} b WHERE first NOT NULL"
    count = len(columns.split(", "))
    reject(spool, complaints, table, select, f"{message}, in {{{count}}}", line_last=True)


def _dangling(
    spool: Spool, complaints: Complaints, table: str, column: str, target: str, also: str = ""
) -> None:
    select = (
        f"SELECT f.n, f.line, f.{column} FROM {table} f WHERE NOT EXISTS "
        f"(SELECT 1 FROM {target} t WHERE t.key = f.{column}) {also}"
    )
    reject(spool, complaints, table, select, f"there is no {KINDS[target]} {{0!r}}")


def _sources(spool: Spool, complaints: Complaints) -> None:
    """Number the pins by waves: a pin's source is in an earlier wave. A pin without a number repins
    a missing pin or, through its sources, itself."""
    spool.db.execute("UPDATE pins SET wave = NULL")
    wave = 0
    changed = spool.db.execute("UPDATE pins SET wave = 0 WHERE source IS NULL").rowcount
    while changed:
        wave += 1
        changed = spool.db.execute(
            "UPDATE pins SET wave = ? WHERE wave IS NULL AND source IN "
            "(SELECT key FROM pins WHERE wave = ?)",
            (wave, wave - 1),
        ).rowcount
    lost = "SELECT p.n, p.line, p.source FROM pins p WHERE p.wave IS NULL"
    absent = "NOT EXISTS (SELECT 1 FROM pins s WHERE s.key = p.source)"
    message = "there is no pin {0!r} to be its source"
    reject(spool, complaints, "pins", f"{lost} AND {absent}", message)
    reject(spool, complaints, "pins", lost, "its source {0!r} was left out, or is its own repin")


def _crowded(
    spool: Spool,
    complaints: Complaints,
    table: str,
    kind: str,
    most: int,
    what: str,
    only: str = "true",
) -> None:
    """Leave out the rows of a board or a user (`kind`) beyond the number that it may have, among
    the rows for which `only` holds."""
    place = f"row_number() OVER (PARTITION BY {kind} ORDER BY n) AS place"
    numbered = f"SELECT n, line, {kind}, {place} FROM {table} WHERE {only}"
    select = f"SELECT n, line, {kind} FROM ({numbered}) WHERE place > {most}"
    reject(spool, complaints, table, select, f"{kind} {{0!r}} has more than {most} {what}")


def _collaborators(spool: Spool, complaints: Complaints) -> None:
    """Leave out collaborators of missing boards, missing users, owners of the boards, and too many
    collaborators."""
    table = "collaborators"
    _dangling(spool, complaints, table, "board", "boards")
    _dangling(spool, complaints, table, "user", "users")
    select = (
        "SELECT c.n, c.line, c.user, c.board FROM collaborators c "
        "JOIN boards b ON b.key = c.board WHERE b.owner = c.user"
    )
    reject(spool, complaints, table, select, "{0!r} owns board {1!r}, and is no collaborator of it")
    of_board = (collaborators.MOST, "collaborators and invited users")
    _crowded(spool, complaints, table, "board", *of_board)
    for only, what in (("NOT invited", "boards to collaborate on"), ("invited", "invitations")):
        of_user = (collaborators.MOST_BOARDS, what, only)
        _crowded(spool, complaints, table, "user", *of_user)


def _choices(spool: Spool, complaints: Complaints) -> None:
    """Leave out choices of missing viewers, about missing objects, and too many of a viewer."""
    _dangling(spool, complaints, "choices", "viewer", "users")
    for kind in ("user", "board", "interest", "pin"):
        _dangling(spool, complaints, "choices", "target", f"{kind}s", f"AND f.kind = '{kind}'")
    for mapping, (most, what) in LISTS.items():
        only = f"mapping = '{mapping.value}'"
        _crowded(spool, complaints, "choices", "viewer", most, what, only)


def _sections(spool: Spool, complaints: Complaints) -> None:
    """Take pins out of sections that are not on their boards. The pins stay."""
    select = (
        "SELECT s.n, s.line, s.section FROM pin_sections s JOIN pins p ON p.n = s.pin "
        "WHERE NOT EXISTS (SELECT 1 FROM sections t WHERE t.key = s.section AND t.board = p.board)"
    )
    message = "its section {0!r} is no section of its board: made without a section"
    reject(spool, complaints, "pin_sections", select, message)


def _covers(spool: Spool, complaints: Complaints) -> None:
    """Remove a board's cover if it is not one of the board's pins. The board stays."""
    bad = spool.db.execute(
        "SELECT b.n, b.line, b.cover FROM boards b WHERE cover IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM pins p WHERE p.key = b.cover AND p.board = b.key) ORDER BY b.n"
    ).fetchall()
    for n, line, cover in bad:
        complaints.add(line, f"its cover {cover!r} is no pin of the board: made without a cover")
        spool.db.execute("UPDATE boards SET cover = NULL WHERE n = ?", (n,))
