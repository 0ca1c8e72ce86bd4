"""Formulas as MathML, converted while the pages are built.

Browsers draw MathML themselves, so a page needs no script, no font and no network for its formulas, a screen reader can
read them, and they take the colors of a dark page. The converter is that of docutils, which Sphinx needs anyway. A
formula that it does not understand is a warning, and so an error in a build with `-W`.
"""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def converted(node: nodes.Element, *, block: bool) -> str:
    """A formula as MathML, or as it was written where that fails."""
    text = node.astext().strip()
    rows = r"\\" in text and r"\begin" not in text
    if re.search(r"\\(hat|bar|tilde|dot)\s*(\{\w+\}|\w)\}?[_^]", text):
        logger.warning(
            "The formula %r has an index behind an accent, which would end up below it.", text, location=node
        )
    try:
        return spaced(tex2mathml(rf"\begin{{aligned}}{text}\end{{aligned}}" if rows else text, as_block=block))
    except MathError as error:
        logger.warning("The formula %r cannot be converted: %s", text, error, location=node)
        return f"<code>{escape(text)}</code>"


def spaced(formula: str) -> str:
    """What TeX does and the converter does not.

    The bars of a norm are as high as the line, names of functions have space around them, and the rows of `aligned`
    meet at the relation, with sums at their full size.
    """
    aligned = '<mtable class="ams-align" displaystyle="true" columnalign="right left">'
    formula = formula.replace('<mtable class="ams-align">', aligned)
    formula = formula.replace("<mo>‖</mo>", '<mo stretchy="false" lspace="0" rspace="0">‖</mo>')
    formula = formula.replace("<mo>|</mo>", '<mo stretchy="false" lspace="0" rspace="0">|</mo>')

    def name(found: re.Match[str]) -> str:
        after = "0" if found[3] else "0.167em"
        return f'<mo form="prefix" lspace="0.167em" rspace="{after}">{found[1]}</mo>{found[2]}{found[3] or ""}'

    return re.sub(r'<mi(?: mathvariant="normal")?>([a-z]{2,})</mi>(\s*)(<mo stretchy="false">\()?', name, formula)


def visit_inline(self, node):
    self.body.append(converted(node, block=False))
    raise nodes.SkipNode


def visit_block(self, node):
    number = get_node_equation_number(self, node) if node["number"] else ""
    self.body.append(self.starttag(node, "div", CLASS="formula"))
    self.body.append(converted(node, block=True))
    if number:
        self.body.append(f'<span class="eqno">({number})</span>')
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
