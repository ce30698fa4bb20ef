"""The order of the pages: what the sidebar shows. A page that is not here is reached by links and by the search.

An entry is a file of the repository, a page that build_site.py makes (reference/...), or a title with its own entries.
"""

TOOLS = ["vm-compile", "vm-run", "vm-bench", "vm-dump", "vm-diff", "vm-generate", "vm-prejit", "vm-report",
         "vm-tune", "vm-sign"]

# For each header: the file, and the page that is made of it.
HEADERS = {
    "vm/api/ember.h": ("reference/ember-h.md", "Programs include it as `<ember.h>`."),
    "tools/compiler_api/ember_compiler.h": ("reference/ember-compiler-h.md", "Programs include it as `<ember_compiler.h>`."),
    "tools/llm_api/ember_llm.h": ("reference/ember-llm-h.md", "Programs include it as `<ember_llm.h>`."),
    "jit/te_api/ember_te.h": ("reference/ember-te-h.md", "Programs include it as `<ember_te.h>`."),
    "vm/api/ember.hpp": ("reference/ember-hpp.md", "Programs include it as `<ember.hpp>`."),
}

# The table of the reasons why a dispatch has no kernel, and its page.
DECLINES = ("jit/backend/decline_reasons.h", "reference/declines.md")

SECTIONS = [
    ("Begin", ["docs/start.md", "docs/faq.md", "docs/glossary.md"]),
    (
        "Cookbook",
        [
            "docs/cookbook/image-classification.md",
            "docs/cookbook/detection.md",
            "docs/cookbook/segmentation.md",
            "docs/cookbook/speech.md",
            "docs/cookbook/text.md",
            "docs/cookbook/trees.md",
        ],
    ),
    (
        "Guide",
        [
            "tools/README.md",
            "docs/formats.md",
            "docs/explain.md",
            "docs/report.md",
            "docs/comparing.md",
            "docs/prejit.md",
            "docs/tuning.md",
            "docs/language-models.md",
            "docs/pictures-and-sound.md",
            "docs/devices.md",
            "docs/embedding.md",
            "docs/browser.md",
            "python/README.md",
            "docs/arithmetic.md",
            "docs/security.md",
        ],
    ),
    (
        "Tutorials",
        [
            "docs/tutorials/one-convolution.md",
            "docs/tutorials/matrix-product.md",
            "python/TE.md",
            "docs/tutorials/add-an-operator.md",
        ],
    ),
    (
        "Reference",
        [
            ("reference/tools.md", "Tools", ["reference/%s.md" % tool for tool in TOOLS]),
            ("reference/c.md", "C and C++", [page for page, _ in HEADERS.values()]),
            ("reference/python.md", "Python", ["reference/python-ember.md", "reference/python-ember-te.md"]),
            (
                "reference/texts.md",
                "Texts of the representations",
                [
                    "reference/graph-text.md",
                    "tensor/GRAMMAR.md",
                    "tensor/notation/README.md",
                    "reference/schedule-text.md",
                    "jit/loops/GRAMMAR.md",
                    "vm/isa/GRAMMAR.md",
                ],
            ),
            ("reference/coverage.md", "Coverage of model formats", ["docs/coverage/*.md"]),
            "docs/errors.md",
            DECLINES[1],
        ],
    ),
    (
        "Development",
        [
            "docs/DESIGN.md",
            "docs/ARCHITECTURE.md",
            "docs/development.md",
            ("docs/adding/README.md", "Recipes for additions", ["docs/adding/*.md"]),
            "docs/style.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
        ],
    ),
]
