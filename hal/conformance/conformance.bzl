"""hal_conformance_test: runs the conformance suite on a driver."""

load("@rules_cc//cc:cc_test.bzl", "cc_test")

def hal_conformance_test(driver, unsupported = []):
    """Adds the test `conformance`.

    Args:
      driver: its name in hal/drivers.cc.
      unsupported: features that answer Unimplemented; their tests are skipped. A feature of this
        list that does work, and any other that answers Unimplemented, fails.
    """
    cc_test(
        name = "conformance",
        size = "small",
        args = ["--driver=" + driver] +
               ["'--unsupported=%s'" % feature for feature in unsupported],
        deps = ["//hal/conformance:suite"],
    )
