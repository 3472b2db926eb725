"""Compiled modules are used only while their sources are unchanged."""

from pathlib import Path

import pytest

from loaders.compiled import ROOT, digest, is_stale


@pytest.mark.parametrize("name", ["run/execution.py", "run/execution.pxd", "fused/written.pyx"])
def test_a_source_that_changes_after_compiling_is_noticed(name: str, tmp_path: Path) -> None:
    for folder in ("gateway", "loaders"):
        for source in (ROOT / folder).rglob("*.p*"):
            copy = tmp_path / source.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
    assert not is_stale(tmp_path), "an installed package has no digest"
    (tmp_path / "loaders" / "compiled.digest").write_text(digest(tmp_path))
    assert not is_stale(tmp_path)
    with (tmp_path / "gateway" / "execution" / name).open("a") as file:
        file.write("# changed\n")
    assert is_stale(tmp_path)


def test_setup_computes_the_same_digest() -> None:
    code = (ROOT / "setup.py").read_text()
    found: dict[str, object] = {}
    start = code.index("def digest():")
    imports = "from hashlib import sha256\nfrom pathlib import Path\n"
    exec(imports + code[start : code.index("class ")], found)
    assert found["digest"]() == digest(Path())  # type: ignore[operator]
