"""coverage_page: docs/FORMAT-coverage.md, the program that writes it and the test that it is fresh."""

load("//bazel:ember.bzl", "ember_cc_binary", "ember_cc_library", "ember_cc_test")

def coverage_page(format, deps, hdrs = [], writer = "//tests/coverage:write_coverage.cc"):
    """Of tests/FORMAT/coverage, whose coverage_page.cc defines CoveragePage().

    Args:
      format: as in docs/FORMAT-coverage.md.
      deps: of coverage_page.cc.
      hdrs: of coverage_page.cc, where it offers more than the page.
      writer: the program, where it says more.
    """
    ember_cc_library(
        name = "coverage_page",
        srcs = ["coverage_page.cc"],
        hdrs = hdrs,
        deps = deps + ["//tests/coverage:coverage_page"],
        # The test's library calls CoveragePage() without depending on one.
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
        data = ["//docs:%s-coverage.md" % format],
        env = {"COVERAGE_PAGE": "docs/%s-coverage.md" % format},
        deps = [
            ":coverage_page",
            "//tests/coverage:coverage_page_tests",
        ],
    )
