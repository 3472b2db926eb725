"""The committed GraphiQL is exactly what its sources build, so nobody has to trust a bundle."""

import re
from pathlib import Path

import pytest

from tests.outside.node_tools import STATIC, build_graphiql, digest, digest_file

COMMITTED = STATIC / "graphiql"
LIMIT = 8 * 1024 * 1024  # bytes of the whole page


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_committed_files_were_built_from_these_sources() -> None:
    assert digest("graphiql") == digest_file("graphiql").read_text().strip(), "run `make graphiql`"


@pytest.mark.nightly
def test_building_graphiql_anew_gives_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    build_graphiql(tmp_path / "built")
    built, committed = files(tmp_path / "built"), files(COMMITTED)
    assert sorted(built) == sorted(committed)
    assert [name for name in built if built[name] != committed[name]] == []


def test_the_committed_page_is_small_and_has_no_source_maps() -> None:
    committed = files(COMMITTED)
    assert sum(map(len, committed.values())) < LIMIT
    assert [name for name in committed if name.endswith(".map")] == []


def test_the_page_and_its_styles_name_no_other_host() -> None:
    page = (COMMITTED / "index.html").read_text()
    assert re.findall(r"(?:src|href)=\"(?!/graphiql/)", page) == []
    assert "default-src 'none'" in page
    for style in COMMITTED.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import\s)[\"']?(?:https?:)?//", style.read_text()) == []


def test_the_notices_hold_a_license_for_every_package_in_the_bundle() -> None:
    notices = (COMMITTED / "NOTICES.txt").read_text()
    for name in ("graphiql", "monaco-editor", "react", "react-dom", "graphql", "prettier"):
        assert re.search(rf"^{name} [\d.]+ \(MIT\)$", notices, re.MULTILINE)
