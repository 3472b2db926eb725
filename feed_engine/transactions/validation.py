"""Checks of single inputs. Each function returns the value as it will be stored, or raises BadInput
with a message that says what is wrong and what is expected."""

import re
import unicodedata
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from datasources.errors import BadInput
from datasources.records import Image
from feed_engine.transactions.hidden_text import hidden
from feed_engine.transactions.reserved_names import RESERVED

URL_LENGTH = 2048
INTERESTS = 20
KEY_LENGTH = 255
PIXELS = 100_000
IMAGES = "/images/"  # pictures that the gateway itself serves

_USERNAME = re.compile(r"[a-z0-9_.]{3,30}")
_LOCAL = re.compile(r"""[^\s"(),.:;<>@\[\\\]]+(\.[^\s"(),.:;<>@\[\\\]]+)*""")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
_BLANK = re.compile(
    "[\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters that are default-ignorable
    "\u2800\U0001d159]"  # symbols without ink: blank braille, the null notehead
)
MARKS = 30
"""Combining marks in a row, at most, as in Unicode's Stream-Safe Text Format (UAX #15). Written
languages need a few, and normalizing n marks in a row takes n² steps."""
DECOMPOSED = 4
"""Characters into which one character of form NFC is decomposed, at most."""
EMAIL_LENGTH, LOCAL_LENGTH, LABEL_LENGTH = 254, 64, 63
"""Characters of an e-mail address, of its part before the @ (RFC 5321), and of a label of its
domain (RFC 1035), at most."""
UNGUESSABLE = 16
"""Characters in a sign-up's idempotency key, at least. A client that repeats the key gets the
user's token, so nobody may guess it."""

UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters, including C1
    "\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\u115f\u1160\u3164\uffa0"  # invisible
    "\u202a-\u202e\u2066-\u206f]"  # characters that change the direction of the text after them
)
"""Characters that no text may have. Joiners (U+200C, U+200D), the direction marks U+200E and U+200F
and the soft hyphen are allowed: scripts and emoji need them. `hidden_text` bounds their number."""
LINE_BREAKS = re.compile(r"\s*[\r\n]\s*")


def text(value: str, field: str, most: int, *, least: int = 0) -> str:
    """A text of `least` to `most` characters, in Unicode's form NFC, without white space at its
    ends."""
    if len(value) > DECOMPOSED * most:  # a bound on the time for the checks below
        raise BadInput(f"{field} has {len(value)} characters: at most {most} are kept", field)
    value = value.strip()
    _must_be_unicode(value, field)
    if found := UNSEEN.search(value):
        raise BadInput(f"{field} holds {unseen(found[0])}: leave it out", field)
    if not value.isascii():
        if _has_a_run_of_marks(value):
            raise BadInput(f"{field} holds more than {MARKS} marks on one character", field)
        value = unicodedata.normalize("NFC", value)
    if not least <= len(value) <= most:
        if not value:
            raise BadInput(f"{field} is empty: it needs 1 to {most} characters", field)
        raise BadInput(f"{field} has {len(value)} characters: at most {most} are kept", field)
    if not value.isascii() and (behind := hidden(value)):
        raise BadInput(
            f"{field} holds a row of characters that nobody can see, as {unseen(behind)}: leave "
            "them out",
            field,
        )
    if value and not is_visible(value):
        raise BadInput(
            f"{field} holds only characters that nobody can see, as {unseen(value[0])}: use a "
            "letter, a digit or a sign",
            field,
        )
    return value


def line(value: str, field: str, most: int, *, least: int = 0) -> str:
    """A text of one line, as a name is."""
    value = text(value, field, most, least=least)
    if LINE_BREAKS.search(value):
        raise BadInput(f"{field} holds a line break: write it in one line", field)
    return value


def is_visible(value: str) -> bool:
    """Whether a reader sees something: a letter, a number, a punctuation mark or a symbol. Marks
    without a character to stand on, white space, controls, unassigned characters and characters
    that Unicode calls default-ignorable are not seen, and neither are the blanks among letters and
    symbols."""
    return any(
        unicodedata.category(character)[0] in "LNPS" and not _BLANK.match(character)
        for character in value
    )


def username(value: str) -> str:
    """A user name, in lower case."""
    value = value.strip()
    lower = value.lower() if value.isascii() else value
    if not _USERNAME.fullmatch(lower):
        raise BadInput(
            f"{shown(value)} can't be a user name: use 3 to 30 of the letters a to z, digits, "
            "underscores and dots",
            "username",
        )
    return lower


def free_username(value: str) -> str:
    """A user name that is free for signing up, in lower case. Reserved names are refused."""
    name = username(value)
    if not name.strip("_."):
        raise BadInput(f"{name} can't be a user name: it needs a letter or a digit", "username")
    if name.strip("_.").replace(".", "_") in RESERVED:
        raise BadInput(f"the user name {name} is reserved: choose another", "username")
    return name


def email(value: str) -> str:
    """An e-mail address in Unicode's form NFC, its domain in lower case. The part before the @
    keeps its case: some servers distinguish it (RFC 5321, 2.4). Quoted parts, comments and
    addresses of hosts in brackets are refused."""
    value = line(value, "email", EMAIL_LENGTH, least=1)
    local, _, domain = value.rpartition("@")
    domain = unicodedata.normalize("NFC", domain.lower())
    fits = len(local) <= LOCAL_LENGTH and len(local) + 1 + len(domain) <= EMAIL_LENGTH
    if not (fits and _LOCAL.fullmatch(local) and _is_domain(domain)):
        raise BadInput(
            f"{shown(value)} is not an e-mail address: write it as name@example.org", "email"
        )
    return f"{local}@{domain}"


def link(value: str | None, field: str) -> str | None:
    """An absolute http or https address; None for an empty text."""
    if value is None or not (value := value.strip()):
        return None
    _must_be_unicode(value, field)
    try:
        parts = urlsplit(value)
        # Browsers read a backslash as a slash, and would go to another host than `hostname`.
        sound = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and "\\" not in value
            and "@" not in parts.netloc  # a reader takes the user name for the host
        )
    except ValueError:
        sound = False
    if not sound or len(value) > URL_LENGTH or _UNPRINTABLE.search(value) or UNSEEN.search(value):
        raise BadInput(
            f"{shown(value)} can't be the {field}: it needs an http:// or https:// address of up "
            f"to {URL_LENGTH} characters",
            field,
        )
    return value


def image(value: Image | None, field: str) -> Image | None:
    """A picture with an http or https address, or a picture that the gateway serves."""
    if value is None:
        return None
    url = value.url.strip()
    if url.startswith(IMAGES):
        path = unquote(url)
        if (
            ".." in path
            or "\\" in path
            or "%" in path
            or len(url) > URL_LENGTH
            or _UNPRINTABLE.search(url)
            or UNSEEN.search(url)
        ):
            raise BadInput(f"{shown(url)} is not the path of a picture here", f"{field}.url")
        _must_be_unicode(url, f"{field}.url")
    elif link(url, f"{field}.url") is None:
        raise BadInput(f"{field}.url is empty: it needs the picture's address", f"{field}.url")
    for name, size in (("width", value.width), ("height", value.height)):
        if size is not None and not 1 <= size <= PIXELS:
            raise BadInput(
                f"{field}.{name} is {size}: it is in pixels, 1 to {PIXELS}", f"{field}.{name}"
            )
    if value.color is not None and not _COLOR.fullmatch(value.color):
        raise BadInput(
            f"{shown(value.color)} is not a color: write it as #rrggbb", f"{field}.dominantColor"
        )
    color = value.color.lower() if value.color else None
    return Image(url=url, width=value.width, height=value.height, color=color)


def interest_ids(values: Sequence[int]) -> tuple[int, ...]:
    """Up to 20 ids in the given order, without repetitions."""
    found = tuple(dict.fromkeys(values))
    if len(found) > INTERESTS:
        raise BadInput(f"a pin has at most {INTERESTS} interests, not {len(found)}", "interestIds")
    return found


def idempotency_key(value: str | None) -> None:
    if value is None:
        return
    _must_be_unicode(value, "idempotencyKey")
    if not 1 <= len(value) <= KEY_LENGTH:
        raise BadInput(
            f"idempotencyKey has {len(value)} characters: use 1 to {KEY_LENGTH}", "idempotencyKey"
        )


def unguessable_key(value: str | None) -> None:
    """Check that an idempotency key is hard to guess, because its answer has a secret."""
    idempotency_key(value)
    if value is not None and len(value) < UNGUESSABLE:
        raise BadInput(
            f"idempotencyKey has {len(value)} characters: a sign-up's needs at least {UNGUESSABLE} "
            "that nobody can guess, as a random UUID has",
            "idempotencyKey",
        )


def _has_a_run_of_marks(value: str) -> bool:
    run = 0
    for character in value:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > MARKS:
            return True
    return False


def _is_domain(value: str) -> bool:
    """Whether the text is a name of two labels or more, in letters of any language."""
    labels = value.split(".")
    return (
        len(labels) > 1
        and not labels[-1].isdecimal()  # an address of four numbers
        and all(
            0 < len(label) <= LABEL_LENGTH
            and not label.startswith("-")
            and not label.endswith("-")
            and all(
                character == "-" or unicodedata.category(character)[0] in "LMN"
                for character in label
            )
            for label in labels
        )
    )


def unseen(character: str) -> str:
    """The name of an invisible character for a message: "U+200B (ZERO WIDTH SPACE)"."""
    name = unicodedata.name(character, "a control character")
    return f"U+{ord(character):04X} ({name})"


def shown(value: str) -> str:
    """The given value, shortened for a message."""
    return repr(value if len(value) <= 60 else f"{value[:60]}…")


def _must_be_unicode(value: str, field: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{field} holds half of a character (a lone surrogate): send whole ones", field
        ) from None
