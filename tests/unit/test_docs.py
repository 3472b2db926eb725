"""The documentation's links and paths: each names a file, a folder or a heading that exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOUND = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/**/README.md")]
PAGES = sorted(path for path in FOUND if "node_modules" not in path.parts)
FOLDERS = "gateway|schema|resolvers|loaders|feed_engine|datasources|deploy|tests|bench|docs"
PATH = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
GENERATED = {"schema.md", "commands.md", "metrics.md", "measured.md"}
"""Pages that docs/hooks.py writes; tests/outside/test_book.py checks the links to them."""
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs make them."""
    plain = (
        re.sub(r"[^\w\s-]", "", title).strip().lower() for title in HEADING.findall(text(page))
    )
    return {re.sub(r"\s+", "-", title) for title in plain}


def text(page: Path) -> str:
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def dead_links(page: Path) -> Iterator[str]:
    """The links of the page to files and headings that don't exist."""
    for target in LINK.findall(text(page)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if linked.name in GENERATED and linked.is_relative_to(ROOT / "docs"):
            continue
        if not linked.exists() or (anchor and anchor not in anchors(linked)):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    assert list(dead_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_in_the_text_exist(page: Path) -> None:
    named = PATH.findall(text(page))
    assert [path for path in named if not (ROOT / path).exists() and "NAME" not in path] == []


def test_the_books_first_page_leads_to_every_page() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    first = (ROOT / "docs" / "index.md").read_text()
    assert len(listed) > 20
    assert [page for page in listed if page != "index.md" and f"]({page})" not in first] == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One\n[a](other.md) [b](#two) [c](#one) [d](https://example.org/x)\n")
    assert list(dead_links(page)) == ["other.md", "#two"]
