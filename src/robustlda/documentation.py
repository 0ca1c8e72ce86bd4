"""Links from the HTML representation of an estimator to its page, where these pages are published.

Where that is, the package's own metadata say: a `Documentation` among the project's URLs in pyproject.toml. As long as
there is none, there are no links, rather than links to nothing.
"""

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata


@cache
def home() -> str:
    """The address of the documentation, or nothing."""
    try:
        urls = metadata("robustlda").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a copy of the source
        return ""
    found = dict(url.split(", ", 1) for url in urls)
    return found.get("Documentation", "").rstrip("/")


class Documented:
    """What scikit-learn asks an estimator for to link to its documentation; goes before `BaseEstimator`."""

    _doc_link_module = "robustlda"
    _public_module = "robustlda"

    @property
    def _doc_link_template(self) -> str:
        return f"{home()}/api/generated/{{page}}.html" if home() else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": f"{self._public_module}.{type(self).__name__}"}
