"""Tests of kernels, once for each row of jit/target/testing/processors.cc."""

load("//bazel:ember.bzl", "ember_cc_test")

# The processors for which kernels are tested. Key: the processor's name. Value: the server that
# runs its kernels under the emulator; None: the tests run on this machine, if it has the
# processor's features.
PROCESSORS = {
    "x86-64-v2": None,
    "x86-64-v3": None,
    "x86-64-v4": None,
    "x86-64-v4-vnni": None,
    "x86-64-v4-bf16": None,
    "aarch64-neon": "//jit/llvm:foreign_server_aarch64",
    "aarch64-dotprod": "//jit/llvm:foreign_server_aarch64",
    "aarch64-i8mm": "//jit/llvm:foreign_server_aarch64",
    "aarch64-sve256": "//jit/llvm:foreign_server_aarch64",
    "armv7-neon": "//jit/llvm:foreign_server_armhf",
    "armv7-neon-vfp4": "//jit/llvm:foreign_server_armhf",
    "wasm32-simd128": "//jit/llvm/testing:wasm_server.mjs",
}

def processor_tests(name, processors, env = {}, data = [], **kwargs):
    """NAME_PROCESSOR for each processor: a test with EMBER_TEST_PROCESSOR=PROCESSOR (jit/llvm/testing/run_nest.h).

    Args:
      name: the beginning of the tests' names.
      processors: keys of PROCESSORS. `./dev processors` runs all tests for all of them.
      env: as in cc_test.
      data: as in cc_test.
      **kwargs: as in ember_cc_test.
    """
    for processor in processors:
        server = PROCESSORS[processor]
        own = {"EMBER_TEST_PROCESSOR": processor}
        own.update(env)
        if server:
            own["EMBER_TEST_SERVER"] = "$(location %s)" % server
        ember_cc_test(
            name = "%s_%s" % (name, processor.replace("-", "_")),
            data = data + ([server] if server else []),
            env = own,
            **kwargs
        )
