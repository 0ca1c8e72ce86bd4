"""Figures that are drawn while the pages are built, once for light pages and once for dark ones.

`figures.py` has a function for each. They are drawn again when it, the package or the results have changed since. In a
page,

    ```{drawn} accuracy
    :alt: What is to be seen, for who cannot see it.

    The caption.
    ```
"""

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).parents[1]
TARGET = DOCS / "drawn"
THEMES = ("light", "dark")

logger = logging.getLogger(__name__)


def newest_source() -> float:
    root = DOCS.parent
    sources = [DOCS / "figures.py", *root.glob("src/robustlda/**/*.py"), *root.glob("results/*/*.csv")]
    return max(path.stat().st_mtime for path in sources)


def draw_all(app: Sphinx) -> None:
    import figures

    TARGET.mkdir(exist_ok=True)
    changed = newest_source()
    for name, draw in figures.FIGURES.items():
        paths = {theme: TARGET / f"{name}-{theme}.svg" for theme in THEMES}
        if any(not path.exists() or path.stat().st_mtime < changed for path in paths.values()):
            logger.info("drawing %s", name)
            figures.save(draw, paths)


class Drawn(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required, "width": directives.length_or_percentage_or_unitless}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if "alt" not in self.options:
            raise self.error(f"The figure {name} needs an alt text.")
        found = []
        for theme in THEMES:
            uri = f"/drawn/{name}-{theme}.svg"
            image = nodes.image(uri=uri, alt=self.options["alt"], classes=[f"only-{theme}"])
            if "width" in self.options:
                image["width"] = self.options["width"]
            figure = nodes.figure("", image, classes=[f"only-{theme}"], align="center")
            if self.content:
                parsed = nodes.Element()
                self.state.nested_parse(self.content, self.content_offset, parsed)
                # What is parsed are paragraphs; a caption holds their text.
                figure += nodes.caption("", "", *(child for paragraph in parsed for child in paragraph.children))
            found.append(figure)
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("drawn", Drawn)
    # Before images are looked for.
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
