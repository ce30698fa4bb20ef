"""Repositories that Bazel 4 would otherwise download.

Rule sets that Debian packages are taken from there; rules_cc, rules_shell and
the coverage tools have stand-ins here, because everything they hold is native
in Bazel 4.
"""

# buildifier: disable=unnamed-macro
def bazel_shims():
    """Declares the stand-ins and Debian's rule sets."""
    for name in ["rules_cc", "rules_shell"]:
        native.local_repository(name = name, path = "third_party/bazel_shims/" + name)
    native.local_repository(name = "remote_coverage_tools", path = "third_party/bazel_shims/coverage_tools")

    # Packages bazel-rules-java, bazel-rules-proto, bazel-skylib, bazel-platforms.
    native.local_repository(name = "rules_java", path = "/usr/share/bazel/rules/java")
    native.local_repository(name = "rules_proto", path = "/usr/share/bazel/rules/proto")
    native.local_repository(name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    native.local_repository(name = "platforms", path = "/usr/share/bazel/platforms")
