"""Installs the built wheel into a clean environment outside the tree and uses it; looks at the sdist too."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

USE = """
import okf_catalog
from pathlib import Path

assert "site-packages" in okf_catalog.__file__, okf_catalog.__file__
assert (Path(okf_catalog.__file__).parent / "py.typed").exists()
with okf_catalog.open_knowledge("catalog.json", default_strategy="merged") as knowledge:
    passages = knowledge.search("REVENUE").passages
    assert [(p.source_id, p.concept_id, p.score) for p in passages] == [("sales", "revenue", 4)], passages
    assert passages[0].excerpt == "Revenue is net of refunds."
"""
IN_SDIST = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "python/okf_catalog/py.typed"]


def main() -> None:
    dist = Path(sys.argv[1]).resolve()
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    assert "-cp310-abi3-" in wheel.name, wheel.name
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    missing = [name for name in IN_SDIST if name not in names]
    assert not missing, f"the sdist lacks {missing}"
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        write_catalog(home)
        venv.create(home / "env", with_pip=True)
        python = home / "env" / "bin" / "python"
        run(home, python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
        run(home, python, "-c", USE)
        # Without its extra, the command line says what to install; with it, it answers.
        told = subprocess.run(
            [home / "env/bin/okf-catalog", "--version"], cwd=home, capture_output=True, text=True, check=False
        )
        assert told.returncode == 2, told
        assert 'pip install "okf-catalog[cli]"' in told.stderr, told
        run(home, python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]")
        run(home, home / "env/bin/okf-catalog", "search", "revenue", "--catalog", "catalog.json", "--json")
        run(home, home / "env/bin/okf-catalog", "check", "--catalog", "catalog.json")
    print(f"{wheel.name} and {sdist.name} are fit to be installed")


def write_catalog(home: Path) -> None:
    (home / "sales").mkdir()
    text = "---\ntype: Metric\ntitle: Revenue\n---\nRevenue is net of refunds.\n"
    (home / "sales" / "revenue.md").write_text(text, encoding="utf-8")
    manifest = {"version": 1, "sources": [{"id": "sales", "path": "sales"}]}
    (home / "catalog.json").write_text(json.dumps(manifest), encoding="utf-8")


def run(home: Path, *command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=home, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
