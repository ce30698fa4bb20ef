"""coverage_page: the program that writes docs/coverage/FORMAT.md, and the test that the file is up to date."""

load("//bazel:ember.bzl", "ember_cc_binary", "ember_cc_library", "ember_cc_test")

def coverage_page(format, deps, hdrs = [], writer = "//tests/coverage:write_coverage.cc"):
    """Declares the targets of tests/FORMAT/coverage, whose coverage_page.cc defines CoveragePage().

    Args:
      format: the name in docs/coverage/FORMAT.md.
      deps: dependencies of coverage_page.cc.
      hdrs: headers of coverage_page.cc, if it offers more than the page.
      writer: the program's source, if it does more than the default one.
    """
    ember_cc_library(
        name = "coverage_page",
        srcs = ["coverage_page.cc"],
        hdrs = hdrs,
        deps = deps + ["//tests/coverage:coverage_page"],
        # The test calls this library's function CoveragePage() without depending on the library, so
        # the linker must keep it.
        alwayslink = True,
    )

    ember_cc_binary(
        name = "write_coverage",
        srcs = [writer],
        deps = [
            ":coverage_page",
            "//base:file",
            "//tests/coverage:coverage_page",
        ],
    )

    ember_cc_test(
        name = "coverage_page_test",
        data = ["//docs/coverage:%s.md" % format],
        env = {"COVERAGE_PAGE": "docs/coverage/%s.md" % format},
        deps = [
            ":coverage_page",
            "//tests/coverage:coverage_page_tests",
        ],
    )
