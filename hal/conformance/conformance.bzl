"""hal_conformance_test: runs the conformance suite on a driver."""

load("@rules_cc//cc:cc_test.bzl", "cc_test")

def hal_conformance_test(driver, name = "conformance", unsupported = [], args = [], deps = [], **kwargs):
    """Adds the test `name`.

    Args:
      driver: its name in hal/registry/drivers.cc.
      name: of the target.
      unsupported: features that answer Unimplemented; their tests are skipped. A feature of this
        list that does work, and any other that answers Unimplemented, fails.
      args: --validate, --separate-memory: DeviceOptions of the same names; --may-be-missing: tests are
        skipped, with the reason, on a machine without the device.
      deps: what else to link, for instance checks at the end of the suite.
      **kwargs: as in cc_test.
    """
    cc_test(
        name = name,
        size = "small",
        args = ["--device=" + driver] +
               ["'--unsupported=%s'" % feature for feature in unsupported] +
               args,
        deps = ["//hal/conformance:suite"] + deps,
        **kwargs
    )
