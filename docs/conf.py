"""The pages of this folder -> a site (`make docs`), with the Python reference from docstrings.

The pages are plain Markdown.  The modules of `site_parts` add what a site has: blocks with labels,
colours and wrapped lines, pictures for dark and narrow screens, an index by the words of the
glossary, the routes of a server, and pages that are files of the project.
"""

from __future__ import annotations

import gc
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

from xscl.version import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from site_parts import blocks, lines, pictures, routes, words  # noqa: E402

# Trees of nodes live until the end: to look through them for garbage is a third of the time.
gc.set_threshold(1_000_000, 50, 50)

_PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"]

project = "XSCL"
author = "the authors of XSCL"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["site_parts"]
templates_path = ["site_parts/templates"]

html_theme = "furo"
html_title = "XSCL"
html_show_copyright = False
html_static_path = ["site_parts/static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
html_extra_path = ["versions.json"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5d6b", "color-brand-content": "#0b5d6b"},
    "dark_css_variables": {"color-brand-primary": "#6cc5d4", "color-brand-content": "#6cc5d4"},
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {"urls": _PROJECT.get("urls", {})}
pygments_style, pygments_dark_style = "github-light", "github-dark"  # of what Furo depends on
smartquotes_action = "qe"  # no dashes: `--once` is an option

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

myst_heading_anchors = 4
default_role = "code"  # a docstring's `names`
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 90

_FILES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
"""Pages that are files of the project, whose links start one folder above."""


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    """The text of a page as the site has it."""
    if name in _FILES:
        file = HERE.parent / _FILES[name]
        app.env.note_dependency(str(file))
        source[0] = file.read_text(encoding="utf-8").replace("](docs/", "](")
    elif name == "http":
        source[0] += routes.described()
    if app.env.doc2path(name).suffix == ".md":
        source[0] = blocks.labelled(source[0])


def setup(app: Sphinx) -> None:
    """Enters what is read, and by what it is coloured."""
    for kind, lexer in blocks.LEXERS.items():
        app.add_lexer(kind, lexer)
    app.connect("source-read", _read)
    lines.setup()
    pictures.setup(app)
    words.setup(app)
