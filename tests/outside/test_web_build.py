"""The committed web client is what its sources build, and its types are the schema's."""

from pathlib import Path

import pytest

from tests.outside.node_tools import (
    STATIC,
    WEB,
    build_web,
    digest,
    digest_file,
    generate_web_types,
)
from tests.outside.test_graphiql_build import files

COMMITTED = STATIC / "web"


def test_the_committed_files_were_built_from_these_sources_and_this_schema() -> None:
    assert digest("web") == digest_file("web").read_text().strip(), "run `make web`"


@pytest.mark.nightly
def test_building_the_client_anew_gives_the_committed_files_byte_for_byte(tmp_path: Path) -> None:
    build_web(tmp_path / "built")
    built, committed = files(tmp_path / "built"), files(COMMITTED)
    assert sorted(built) == sorted(committed)
    assert [name for name in built if built[name] != committed[name]] == []


@pytest.mark.nightly
def test_the_clients_types_are_those_of_the_schema(tmp_path: Path) -> None:
    generate_web_types(tmp_path / "gen")
    assert files(tmp_path / "gen") == files(WEB / "src" / "gen")
