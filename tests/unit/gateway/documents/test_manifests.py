"""Manifests of trusted documents: three tools' formats, and broken files in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasources.errors import ConfigError
from gateway.documents import manifests
from gateway.documents.manifests import read_manifest
from gateway.documents.trusted import TrustedDocuments

APOLLO = {
    "format": "apollo-persisted-query-manifest",
    "version": 1,
    "operations": [{"id": "a1", "name": "A", "type": "query", "body": "query A { __typename }"}],
}


def written(path: Path, manifest: Any) -> Path:
    path.write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return path


@pytest.mark.parametrize(
    ("manifest", "texts"),
    [
        ({"d41d8": "query A { a }", "8cd98": "query B { b }"}, 2),  # Relay's compiler
        ({"sha256:d41d8": "query A { a }"}, 1),  # GraphQL Code Generator
        ({}, 0),
        (APOLLO, 1),
        ({**APOLLO, "operations": []}, 0),
    ],
)
def test_each_tools_format_is_read(tmp_path: Path, manifest: Any, texts: int) -> None:
    assert len(read_manifest(written(tmp_path / "m.json", manifest))) == texts


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ("", "not valid JSON"),
        ('{"a": ', "not valid JSON"),
        ([], "must be a JSON object"),
        ({"a": 1}, "the text of the document 'a' must be a string"),
        ({"a": " "}, "the text of the document 'a' must be a string"),
        ({"": "{ a }"}, "each document needs an id"),
        ({**APOLLO, "version": 2}, "its version must be 1"),
        ({**APOLLO, "format": "other"}, "its format must be apollo-persisted-query-manifest"),
        ({**APOLLO, "operations": {}}, "its operations must be a list"),
        ({**APOLLO, "operations": ["{ a }"]}, "its operations must be a list of objects"),
        ({**APOLLO, "operations": [{"id": "a"}]}, "the text of the document 'a'"),
        ({**APOLLO, "operations": [{"body": "{ a }"}]}, "each document needs an id"),
        (
            {**APOLLO, "operations": [{"id": "a", "body": "{ a }"}, {"id": "a", "body": "{ b }"}]},
            "the id 'a' has two texts",
        ),
    ],
)
def test_a_broken_manifest_is_told_in_one_line_with_its_path(
    tmp_path: Path, manifest: Any, told: str
) -> None:
    path = written(tmp_path / "m.json", manifest)
    with pytest.raises(ConfigError, match=told) as raised:
        read_manifest(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_and_a_huge_manifest_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"can't read the manifest .*m\.json: No such file"):
        read_manifest(tmp_path / "m.json")
    monkeypatch.setattr(manifests, "MOST_BYTES", 10)
    with pytest.raises(ConfigError, match="has 20 bytes; a manifest has 10 at most"):
        read_manifest(written(tmp_path / "m.json", '{"a":  "query { a }"}'[:20]))


def test_a_second_reading_replaces_all_documents_or_none(tmp_path: Path) -> None:
    first = written(tmp_path / "1.json", {"a": "{ a }"})
    second = written(tmp_path / "2.json", {"b": "{ b }"})
    trusted = TrustedDocuments([first, second])
    assert (trusted.text("a"), trusted.text("b"), trusted.text("c")) == ("{ a }", "{ b }", None)
    assert trusted.has("{ a }")
    assert not trusted.has("{a}")

    written(first, {"c": "{ c }"})
    written(second, "{")
    with pytest.raises(ConfigError, match=r"2\.json is not valid JSON"):
        trusted.read()
    assert (trusted.text("a"), trusted.text("c"), len(trusted)) == ("{ a }", None, 2)

    written(second, {"c": "{ other }"})
    with pytest.raises(ConfigError, match=r"2\.json has another text for the id 'c'"):
        trusted.read()
    assert trusted.text("c") is None

    written(second, {})
    trusted.read()
    assert (trusted.text("a"), trusted.text("c"), len(trusted)) == (None, "{ c }", 1)
    assert not trusted.has("{ a }")
