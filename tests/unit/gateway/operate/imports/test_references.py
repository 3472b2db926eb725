"""Character references in texts and in attributes. tests/outside compares them with Chromium."""

import pytest

from gateway.operate.imports.references import begun, in_attribute, in_text


@pytest.mark.parametrize(
    ("given", "text", "attribute"),
    [
        ("?q=tea&region=eu&currency=EUR", "?q=tea®ion=eu¤cy=EUR", "?q=tea&region=eu&currency=EUR"),
        ("&section=1&times=2&copy=3", "§ion=1×=2©=3", "&section=1&times=2&copy=3"),
        ("&notify=1&param=2", "¬ify=1¶m=2", "&notify=1&param=2"),
        ("a&copy b&copy", "a© b©", "a© b©"),
        ("&copy;=1&amp;b=2", "©=1&b=2", "©=1&b=2"),
        ("&notit; &notin;", "¬it; ∉", "&notit; ∉"),
        ("&NotEqualTilde;&lang;", "≂̸⟨", "≂̸⟨"),
        ("&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;"),
        ("&#65&#x42;&#67=", "AB C=".replace(" ", ""), "ABC="),
        ("&#0;&#xD800;&#x110000;&#99999999999999999999;", "\ufffd" * 4, "\ufffd" * 4),
        ("&#128;&#x9f;&#x81;&#xFFFE;", "€Ÿ\x81\ufffe", "€Ÿ\x81\ufffe"),
        ("&#" + "9" * 5000 + ";", "\ufffd", "\ufffd"),
        ("&#" + "0" * 5000 + "65;", "A", "A"),
    ],
)
def test_references_are_resolved_by_the_rules_of_the_html_standard(
    given: str, text: str, attribute: str
) -> None:
    assert in_text(given) == text
    assert in_attribute(given) == attribute


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("tea & cake &not", 11),
        ("&#x2", 0),
        ("&", 0),
        ("&amp;", 5),
        ("tea", 3),
        ("&a b", 4),
        ("", 0),
    ],
)
def test_a_reference_that_may_go_on_is_found_at_the_end(text: str, position: int) -> None:
    assert begun(text) == position
