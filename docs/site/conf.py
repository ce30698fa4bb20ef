"""Sphinx's settings of the site. build_site.py has made the pages, in the folder that holds a copy of this file."""

project = "Ember"
author = "Ember's authors"
extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}
# Headings get the names that GitHub gives them, so that one link serves both.
myst_heading_anchors = 6
# Pages may begin with a smaller heading or skip one.
suppress_warnings = ["myst.header"]
highlight_language = "none"
# "--flag" stays as it is.
smartquotes = False
html_theme = "furo"
html_title = "Ember"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["ember.css"]
html_theme_options = {"navigation_with_keys": True}
