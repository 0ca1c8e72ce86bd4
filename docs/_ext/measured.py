"""The pages of `results/` as pages of this site.

They live where the programs that write them put them, and link to each other and to `docs/` as files of a repository
do. Before a build they are copied to `docs/measured`, which git ignores, with these links turned into those of the
site. Links from other pages to `../results/NAME/README.md` are turned the same way when a page is read.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
RESULTS = DOCS.parent / "results"
PICTURES = {".png", ".svg"}


def copied(app: Sphinx) -> None:
    target = DOCS / "measured"
    target.mkdir(exist_ok=True)
    for path in sorted(RESULTS.glob("*/*")):
        folder = path.parent.name
        if path.name == "README.md":
            _write(target / f"{folder}.md", as_page(path.read_text(encoding="utf-8"), folder))
        elif path.suffix == ".md":  # reached from the page of its folder, not from the table of contents
            page = as_page(path.read_text(encoding="utf-8"), folder)
            _write(target / path.name, f"---\norphan: true\n---\n\n{page}")
        elif path.suffix in PICTURES:
            (target / folder).mkdir(exist_ok=True)
            shutil.copy2(path, target / folder)


def as_page(text: str, name: str) -> str:
    """Links from a folder of results to others, to `docs/` and to pictures, as links within `docs/measured`."""
    text = re.sub(r"\]\(\.\./(\w+)/README\.md", r"](\1.md", text)
    text = re.sub(r"\]\(\.\./\.\./docs/", "](../", text)
    # Tables that are pasted between markers have headings of the third level, also where no second one comes before.
    before, second, after = text.partition("\n## ")
    text = re.sub("^### ", "## ", before, flags=re.MULTILINE) + second + after
    return re.sub(r"\]\((?!\.\.|http)([\w.-]+\.(?:png|svg))\)", rf"]({name}/\1)", text)


def on_this_site(app: Sphinx, docname: str, source: list[str]) -> None:
    """Links from a page of `docs/` to results."""
    up = "../" * docname.count("/")
    source[0] = re.sub(r"\]\((?:\.\./)+results/(\w+)/README\.md", rf"]({up}measured/\1.md", source[0])


def _write(path: Path, text: str) -> None:
    # A file that has not changed keeps its date, so that Sphinx does not read it again.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", copied)
    app.connect("source-read", on_this_site)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
