"""Build with `python -m sphinx -W --keep-going -b html docs docs/_build/html`; no network is needed.

What the pages need is in the pages: formulas are MathML (`_ext/mathml.py`), figures are drawn while they are built
(`figures.py`, and the gallery), and no script or font comes from elsewhere.
"""

import sys
from pathlib import Path

import matplotlib

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]
matplotlib.use("Agg")

from robustlda import __version__  # noqa: E402

project = "robustlda"
author = "The robustlda developers"
project_copyright = author
version = release = __version__

extensions = [
    "mathml",
    "measured",
    "drawn",
    "spaces",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
GALLERY = HERE.parent / "examples"
if any(GALLERY.glob("plot_*.py")):
    extensions.append("sphinx_gallery.gen_gallery")

exclude_patterns = ["_build", "**/GALLERY_HEADER.rst", "**/README.txt"]
templates_path = ["_templates"]
html_static_path = ["_static"]
default_role = "code"
nitpicky = False
suppress_warnings = ["config.cache"]  # functions in the gallery's settings

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_dmath_allow_labels = True

html_math_renderer = "mathml"
math_number_all = False

toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_context = {  # the page that explains an object
    "explained": {
        "RobustLDA": "/guide/beliefs",
        "RatioLDA": "/guide/algorithm",
        "TraceRatioLDA": "/guide/lengths",
        "LabelAudit": "/guide/label_noise",
        "TablePreparation": "/tables",
        "ParquetTable": "/scaling",
        "Blocks": "/scaling",
        "Store": "/extending",
        "Block": "/extending",
        "Loss": "/extending",
        "minimize_ratio": "/guide/algorithm",
    }
}
autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

ORDER = [  # what most people come for first, what is special last
    "plot_messy_table.py",
    "plot_digits_wrong_labels.py",
    "plot_annotators.py",
    "plot_two_directions.py",
    "plot_text_grid_search.py",
    "plot_faces_wrong_labels.py",
    "plot_more_features_than_samples.py",
    "plot_dask_parts.py",
    "plot_toy_outliers.py",
    "plot_minimize_ratio.py",
]


class Chosen:
    """The order of the gallery; an example that is not in it is an error."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        return ORDER.index(name)


sphinx_gallery_conf = {
    "examples_dirs": [str(GALLERY)],
    "gallery_dirs": ["gallery"],
    "within_subsection_order": Chosen,
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "capture_repr": ("_repr_html_",),  # tables, but not what functions that draw return
    "show_memory": False,
    "min_reported_time": 5,
    "plot_gallery": "True",
    "doc_module": ("robustlda",),
    "backreferences_dir": None,
    "default_thumb_file": None,
    "abort_on_example_error": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "robustlda"
html_css_files = ["robustlda.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": [], "pictures": []}
html_theme_options = {
    "logo": {"text": "robustlda"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
}


def with_gallery(app, docname, source):
    """The gallery in the table of contents, if there is one."""
    if docname == "index":
        source[0] = source[0].replace("\nAPI <api/index>", "\nExamples <gallery/index>\nAPI <api/index>")


def setup(app):
    if "sphinx_gallery.gen_gallery" in extensions:
        app.connect("source-read", with_gallery)
