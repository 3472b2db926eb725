"""Tags, texts and comments by the HTML standard. tests/outside compares them with Chromium."""

import itertools

import pytest

from gateway.operate.imports.markup import MAX_TAG, Broken, EndTag, StartTag, Text, Token, Tokenizer


def tokens(text: str, size: int = 1 << 16) -> list[Token]:
    tokenizer = Tokenizer()
    found = [t for at in range(0, len(text), size) for t in tokenizer.feed(text[at : at + size])]
    return joined([*found, *tokenizer.close()])


def joined(found: list[Token]) -> list[Token]:
    """The tokens, with texts that came in pieces as one."""
    result: list[Token] = []
    for is_text, group in itertools.groupby(found, lambda token: isinstance(token, Text)):
        if is_text:
            result.append(Text("".join(t.text for t in group if isinstance(t, Text))))
        else:
            result += group
    return result


def attributes(tag: str) -> dict[str, str | None]:
    (found,) = tokens(tag)
    assert isinstance(found, StartTag)
    return found.attributes()


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<A HREF=x Add_Date='1'>", {"href": "x", "add_date": "1"}),
        ("<a href=1 HREF=2>", {"href": "1"}),
        ("<a href = 'a>b' x>", {"href": "a>b", "x": None}),
        ('<a\nhref\n=\n"">', {"href": ""}),
        ("<a href=>", {"href": ""}),
        ("<a/href=x/y/>", {"href": "x/y/"}),
        ("<a href='1'b=2>", {"href": "1", "b": "2"}),
        ("<a =x 'y\"=z>", {"=x": None, "'y\"": "z"}),
        ("<a href=x\"y'z>", {"href": "x\"y'z"}),
        ("<a href='?a&copy=1&copy;'>", {"href": "?a&copy=1©"}),
    ],
)
def test_attributes_are_read_as_the_standard_says(
    tag: str, expected: dict[str, str | None]
) -> None:
    assert attributes(tag) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<!-- <b> -->c", "ac"),
        ("a<!-->b<!--->c<!--x--!>d", "abcd"),
        ("a<!DOCTYPE x>b<?php ?>c</>d</3>e", "abcde"),
        ("1 < 2 <3 <", "1 < 2 <3 <"),
        ("a<![CDATA[b]]>c", "ac"),
        ("tea &amp; cake &not", "tea & cake ¬"),
    ],
)
def test_comments_are_nothing_and_other_angles_are_text(text: str, expected: str) -> None:
    assert tokens(text) == [Text(expected)]


def test_the_content_of_scripts_and_styles_has_no_tags() -> None:
    text = "<script>'<a href=1>'</scripts></SCRIPT >x<style><a></style>"
    assert tokens(text) == [
        StartTag("script", "", 1), EndTag("script"), Text("x"), StartTag("style", "", 1),
        EndTag("style"),
    ]  # fmt: skip


def test_lines_are_counted() -> None:
    text = "\n<a\n\nb>\n<!--\n\n-->\n<c>x\n<script>\n</script>\n<d>"
    assert [(t.name, t.line) for t in tokens(text) if isinstance(t, StartTag)] == [
        ("a", 2), ("c", 8), ("script", 9), ("d", 11)
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_any_size_read_the_same(size: int) -> None:
    text = (
        "<!DOCTYPE x><!-- a -- b --><title>T &amp; U</title><a\nhref='?x&copy=1>' b>c &notin; d"
        "&#x26;e</a><script><!-- </script>f<!--->g<!-- --!>h<br/>&am <i"
    )
    assert tokens(text, size) == tokens(text)


def test_what_has_no_end_is_told() -> None:
    assert tokens("x\n<!-- y") == [
        Text("x\n"), Broken(2, "a comment without an end: the rest of the file is left out")
    ]  # fmt: skip
    assert tokens("<script>\nx")[1:] == [
        Broken(1, "<script> without an end: the rest of the file is left out")
    ]
    assert tokens("x\n<a href='") == [Text("x\n"), Broken(2, "a tag without an end: left out")]


def test_a_tag_without_end_fills_no_memory_and_a_comment_neither() -> None:
    tokenizer = Tokenizer()
    broken = 0
    for _ in range(3 * (MAX_TAG >> 16) + 3):
        broken += sum(isinstance(t, Broken) for t in tokenizer.feed("<a href='" + "x" * (1 << 16)))
        assert len(tokenizer._rest) <= MAX_TAG
    assert broken
    tokenizer.feed("'><!--")
    for _ in range(100):
        tokenizer.feed("x" * (1 << 16))
        assert len(tokenizer._rest) < 100
