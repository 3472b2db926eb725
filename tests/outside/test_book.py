"""The book builds without dead links, its reference is complete, and its client runs."""

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gateway.cli import main
from schema import schema

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODE = re.compile(r"`([A-Z][A-Z_]+)`")


def build(config: Path, site: Path) -> "subprocess.CompletedProcess[str]":
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "-f",
        str(config),
        "-d",
        str(site),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built book."""
    folder = tmp_path_factory.mktemp("book") / "site"
    built = build(ROOT / "mkdocs.yml", folder)
    assert built.returncode == 0, built.stderr[-3000:]
    return folder


def page(site: Path, name: str) -> str:
    return (site / name / "index.html").read_text()


def test_the_book_builds_without_a_dead_link_and_asks_no_other_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    for path in pages:
        loaded = re.findall(
            r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', path.read_text()
        )
        assert [url for url in loaded if not url.startswith("http://127.0.0.1:8001/")] == []


def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# One\n\n[two](#two)\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(
        f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: {docs}\nhooks: []\nnav: [index.md]\n"
    )
    assert build(config, tmp_path / "site").returncode != 0
    (docs / "index.md").write_text("# One\n\n[one](#one)\n")
    built = build(config, tmp_path / "site")
    assert built.returncode == 0, built.stderr[-3000:]


def test_the_reference_names_every_type_field_command_and_metric(site: Path) -> None:
    text = page(site, "reference/schema")
    for name, type_ in schema._schema.type_map.items():
        if not name.startswith("__") and hasattr(type_, "fields"):
            assert f">{name}<" in text
            assert all(f"<code>{field}" in text for field in type_.fields)
    text = page(site, "reference/commands")
    assert isinstance(main, click.Group)
    assert all(f"pinway {name}" in text for name in main.commands)
    text = page(site, "reference/metrics")
    assert "pinway_feed_calls" in text
    assert "pinway_http_connections" in text


def test_the_measured_page_has_every_kept_result(site: Path) -> None:
    text = page(site, "measured")
    for path in (ROOT / "bench" / "results").glob("*.json"):
        rows = json.loads(path.read_text())
        assert f"{rows[0]['measure']}</td>" in text, path.name
        if any(row["goal"] for row in rows):
            plot = f"plots/{path.stem}-goals.svg"
            assert plot in text
            assert (site / plot).exists()


def test_every_page_of_the_explanation_of_systems_has_a_picture_of_the_datas_ways(
    site: Path,
) -> None:
    for name in ("architecture", "explanation/storage", "explanation/feeds", "explanation/limits"):
        pictures = re.findall(r'<img[^>]* src="([^"]+\.svg)"', page(site, name))
        assert pictures
        assert [p for p in pictures if not (site / name / p).resolve().exists()] == []


def test_the_errors_page_names_every_code_and_no_other() -> None:
    sources = [p.read_text() for d in ("datasources", "gateway") for p in (ROOT / d).rglob("*.py")]
    told = {
        code
        for text in sources
        for code in re.findall(r'\bcode(?:"|: ClassVar\[str\])?\s*[=:]\s*"([A-Z_]+)"', text)
    }
    rows = [
        line
        for line in (DOCS / "reference/errors.md").read_text().splitlines()
        if line[:3] == "| `"
    ]
    documented = {CODE.findall(row)[0] for row in rows}
    assert told - documented == set()
    readme = (ROOT / "README.md").read_text()
    listed = CODE.findall(readme.split("**Errors.**")[1].split("- **")[0])
    assert set(listed) == documented


def test_the_tutorials_client_runs(gateway_url: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    client = tmp_path / "client.py"
    client.write_text(blocks[0])
    command = [sys.executable, str(client), f"{gateway_url}/graphql", "tutorial_bob"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    title, *feed = done.stdout.splitlines()
    assert title == "Gyokuro"
    assert len(feed) == 5
    assert all(line.split(" ")[0].isupper() for line in feed)
