"""A report as a list of headings, paragraphs, tables and figures, written as Markdown and as one HTML page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup

from robustlda.output import replacing, replacing_together

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph with Markdown's notation for code, bold, italics and links."""

    words: str


@dataclass(frozen=True)
class ReportTable:
    """Cells use the same subset of Markdown; the first column holds names, the others numbers unless `prose`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    prose: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure that is saved next to the report as `name`.png and `name`.svg."""

    name: str
    drawing: "Figure"
    caption: str


Block = Heading | Text | ReportTable | Picture


@dataclass
class Document:
    """A title and the blocks below it, in order."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def write(self, folder: Path) -> list[Path]:
        """Write README.md, report.html and the figures: all of them, or none."""
        drawings = {b.name: svg(b.drawing) for b in self.blocks if isinstance(b, Picture)}
        files = {"README.md": self.markdown().encode(), "report.html": self.html(drawings).encode()}
        for block in self.blocks:
            if isinstance(block, Picture):
                files[f"{block.name}.svg"] = drawings[block.name].encode()
                files[f"{block.name}.png"] = png(block.drawing)
        with replacing_together(folder, list(files)) as target:
            for name, content in files.items():
                (target / name).write_bytes(content)
        return [folder / name for name in files]

    def markdown(self) -> str:
        """The report for display in a repository, with figures as separate files."""
        return "\n\n".join([f"# {self.title}", *map(_markdown, self.blocks)]) + "\n"

    def html(self, drawings: dict[str, str]) -> str:
        """The report as one file with embedded figures; it has no script, and its policy allows none."""
        environment = Environment(
            loader=PackageLoader("robustlda.report"), autoescape=select_autoescape(["html"]), trim_blocks=True
        )
        body = Markup("\n".join(_html(block, drawings) for block in self.blocks))
        return environment.get_template("document.html").render(title=self.title, body=body)


def svg(drawing: "Figure") -> str:
    """The figure as an SVG element, reproducible from the same numbers; text remains text."""
    import matplotlib

    text = StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "robustlda"}):
        drawing.savefig(text, format="svg", metadata={"Date": None})
    found = text.getvalue()
    return found[found.index("<svg") :]


def png(drawing: "Figure") -> bytes:
    """The figure as a PNG image."""
    image = BytesIO()
    drawing.savefig(image, format="png", dpi=110)
    return image.getvalue()


def save(path: Path, content: bytes) -> Path:
    """Write a file that is either complete or absent."""
    with replacing(path) as target:
        target.write_bytes(content)
    return path


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(words):
            return words
        case Picture(name, _, caption):
            return f"![{caption}]({name}.png)"
        case ReportTable(columns, rows, _):
            lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
            return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _html(block: Block, drawings: dict[str, str]) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Text(words):
            return f"<p>{_inline(words)}</p>"
        case Picture(name, _, caption):
            drawing = _with_unique_ids(drawings[name], name).replace(
                "<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1
            )
            return f"<figure><div class=scroll>{drawing}</div><figcaption>{_inline(caption)}</figcaption></figure>"
        case ReportTable(columns, rows, prose):
            head = "".join(f"<th>{_inline(name)}</th>" for name in columns)
            body = "".join("<tr>" + "".join(f"<td>{_inline(c)}</td>" for c in row) + "</tr>" for row in rows)
            kind = ' class="prose"' if prose else ""
            return f"<div class=scroll tabindex=0><table{kind}><tr>{head}</tr>{body}</table></div>"


def _with_unique_ids(drawing: str, name: str) -> str:
    """The figure with its ids made unique: several figures share one page."""
    drawing = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawing)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", drawing)


def _inline(words: str) -> str:
    text = escape(words, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    text = re.sub(r"\*([^*]+)\*", r"<i>\1</i>", text)
    return re.sub(r"\[([^\]]+)\]\((https?://[^)\s\"]*|[\w./#-]+)\)", r'<a href="\2">\1</a>', text)
