"""ember_cc_library, ember_cc_test, ember_cc_test_library, ember_cc_fuzz_test, ember_cc_binary: how our C++ is built.

On top of the plain rules:
  - No RTTI anywhere, so that a class of the runtime can be subclassed in any folder.
  - runtime = True (base, tensor, hal, vm, jit) also turns exceptions off.
  - Test support, testonly = True, is in folders FOLDER/testing and nothing else is.
  - A target is visible to the folders that may depend on its folder, see //visibility;
    visibility = [...] narrows that.
"""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

_COPTS = ["-fno-rtti"]
_RUNTIME_COPTS = ["-fno-exceptions"]

# For each folder, the package group of the targets that may depend on it. The longest prefix of a
# target's package decides.
_USERS = {
    "base": "users_of_base",
    "compiler": "users_of_compiler",
    "compiler/graph": "users_of_compiler_graph",
    "frontends": "users_of_frontends",
    "frontends/gguf": "users_of_frontends_gguf",
    "hal": "users_of_hal",
    "jit": "users_of_jit",
    "llm": "users_of_llm",
    "samples": "users_of_tools",
    "tensor": "users_of_tensor",
    "tests": "users_of_tools",
    "tools": "users_of_tools",
    "tune": "users_of_tune",
    "vm": "users_of_vm",
    "vm/format": "users_of_vm_format",
    "vm/interpreter": "users_of_vm_interpreter",
    "vm/isa": "users_of_vm_isa",
}

def _default_visibility():
    parts = native.package_name().split("/")
    for n in range(len(parts), 0, -1):
        users = _USERS.get("/".join(parts[:n]))
        if users:
            return ["//visibility:" + users]
    return ["//visibility:private"]

def _copts(runtime, copts):
    return _COPTS + (_RUNTIME_COPTS if runtime else []) + (copts or [])

def _check_testonly(name, testonly):
    """Test support is in FOLDER/testing, apart from product code; all of it is testonly."""
    package = native.package_name()
    is_testing = package.endswith("/testing")
    if is_testing and not testonly:
        fail("//%s:%s is in a folder of test support: expected testonly = True" % (package, name))
    if testonly and not is_testing and not package.startswith(("bazel", "hal/conformance", "tests/")):
        fail("//%s:%s is test support: expected it in //%s/testing" % (package, name, package))

# The flags and the dependency by which a target uses a precompiled header of //bazel/pch.
def _pch_copts(header):
    return select({
        "//bazel/pch:is_used": ["-include", "$(BINDIR)/bazel/pch/%s.h" % header],
        "//conditions:default": [],
    })

def _pch_deps(header):
    return select({
        "//bazel/pch:is_used": ["//bazel/pch:" + header],
        "//conditions:default": [],
    })

def _has_cc(srcs):
    return [s for s in srcs if s.endswith(".cc")] and not [s for s in srcs if s.endswith(".c")]

def ember_cc_library(name, runtime = False, srcs = [], deps = [], copts = [], visibility = None, wasm_srcs = None, **kwargs):
    """cc_library.

    Args:
      name: as in cc_library.
      runtime: build without exceptions.
      srcs: as in cc_library; C++ uses a precompiled header, see //bazel/pch.
      deps: as in cc_library.
      copts: come after the flags of the macro.
      visibility: default: the folders that may depend on this one.
      wasm_srcs: replace srcs in a build for WebAssembly, which has no files and no mappings.
      **kwargs: as in cc_library.
    """
    _check_testonly(name, kwargs.get("testonly"))
    header = "runtime" if runtime else "library"
    is_precompiled = _has_cc(srcs)
    if wasm_srcs != None:
        srcs = select({
            "//toolchains:wasm32": wasm_srcs,
            "//conditions:default": srcs,
        })
    cc_library(
        name = name,
        srcs = srcs,
        copts = _copts(runtime, copts) + (_pch_copts(header) if is_precompiled else []),
        visibility = visibility or _default_visibility(),
        deps = deps + (_pch_deps(header) if is_precompiled else []),
        **kwargs
    )

def ember_cc_test(name, size = "small", srcs = [], deps = [], copts = [], main = True, **kwargs):
    """cc_test with GoogleTest (and GoogleMock).

    Args:
      name: as in cc_test.
      size: small = 1 minute.
      srcs: as in cc_test; files *_test.cc use a precompiled header, see //bazel/pch.
      deps: as in cc_test; gtest is added.
      copts: come after the flags of the macro.
      main: link gtest_main. False: the test has its own main().
      **kwargs: as in cc_test.
    """

    # A test with other sources than *_test.cc does not use the precompiled header: .bazelrc
    # compiles these sources with flags with which gcc cannot read the header.
    is_precompiled = srcs and not [s for s in srcs if not s.endswith("_test.cc") and not s.endswith(".h")]
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = _copts(False, copts) + (_pch_copts("test") if is_precompiled else []),
        deps = deps + ["@googletest//:gtest_main" if main else "@googletest//:gtest"] +
               (_pch_deps("test") if is_precompiled else []),
        **kwargs
    )

def ember_cc_test_library(name, deps = [], copts = [], visibility = None, **kwargs):
    """Tests that several targets run, with other arguments or parts: a dependency of ember_cc_test, compiled once.

    Args:
      name: as in cc_library.
      deps: as in cc_library; gtest is added.
      copts: come after the flags of the macro.
      visibility: default: the folders that may depend on this one.
      **kwargs: as in cc_library.
    """
    cc_library(
        name = name,
        testonly = True,
        copts = _copts(False, copts),
        visibility = visibility or _default_visibility(),
        deps = deps + ["@googletest//:gtest"],
        # The linker must keep the library, because no other code refers to tests by name.
        alwayslink = True,
        **kwargs
    )

def ember_cc_fuzz_test(name, srcs, corpus = [], runs = 20000, size = "small", data = [], deps = [], copts = [], tags = [], **kwargs):
    """A fuzz target: srcs define LLVMFuzzerTestOneInput.

    In `bazel test` it runs the corpus and a fixed number of mutations of it; with
    `./dev fuzz` (clang's libFuzzer, ASan, UBSan) it searches for new inputs.

    Args:
      name: as in cc_test.
      srcs: as in cc_test.
      corpus: files to start from; with them the test finds deeper paths.
      runs: mutations that the test tries.
      size: as in cc_test.
      data: files that the target reads, besides the corpus.
      deps: as in cc_test.
      copts: come after the flags of the macro.
      tags: as in cc_test; "fuzz" is added.
      **kwargs: as in cc_test.
    """
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        # libFuzzer itself gets no files here: ./dev fuzz gives it a folder that it has filled with
        # the corpus.
        args = select({
            "//bazel:libfuzzer": [],
            "//conditions:default": ["-runs=%d" % runs] + ["$(locations %s)" % c for c in corpus],
        }),
        copts = _copts(False, copts),
        data = corpus + data,
        linkopts = select({
            "//bazel:libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        tags = tags + ["fuzz"],
        deps = deps + select({
            "//bazel:libfuzzer": [],
            "//conditions:default": ["//bazel:fuzz_main"],
        }),
        **kwargs
    )

def ember_cc_binary(name, runtime = False, srcs = [], deps = [], copts = [], visibility = None, **kwargs):
    """cc_binary.

    Args:
      name: as in cc_binary.
      runtime: build without exceptions.
      srcs: as in cc_binary; C++ uses a precompiled header, see //bazel/pch.
      deps: as in cc_binary.
      copts: come after the flags of the macro.
      visibility: default: the folders that may depend on this one.
      **kwargs: as in cc_binary.
    """
    header = "runtime" if runtime else "library"
    is_precompiled = _has_cc(srcs)
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(runtime, copts) + (_pch_copts(header) if is_precompiled else []),
        visibility = visibility or _default_visibility(),
        deps = deps + (_pch_deps(header) if is_precompiled else []),
        **kwargs
    )
