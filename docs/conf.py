"""Settings of Sphinx: `make docs` builds build/docs with warnings as errors."""

from importlib.metadata import version as version_of

project = "memenvs"
author = "The memenvs developers"
copyright = "The memenvs developers"
version = release = version_of("memenvs")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["parts", "examples"]  # included by other pages; notes to build from

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "memenvs"
