"""Numbers and the sign after them stay in one line: "40 %" is written with an ordinary space in the sources."""

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

PERCENT = re.compile(r"(?<=\d) (?=%)")


class TogetherWithItsSign(SphinxPostTransform):
    default_priority = 900

    def run(self) -> None:
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.literal | nodes.literal_block | nodes.raw) and PERCENT.search(text):
                text.parent.replace(text, nodes.Text(PERCENT.sub("\N{NO-BREAK SPACE}", text)))


def setup(app) -> dict[str, bool]:
    app.add_post_transform(TogetherWithItsSign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
