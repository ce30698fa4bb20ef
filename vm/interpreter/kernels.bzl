"""One instruction set's kernels: strip_kernels.cc and micro_kernels.cc with its flags."""

load("//bazel:ember.bzl", "ember_cc_library")

# Flags for all kernel files. errno and floating-point traps are not part of the semantics, and
# respecting them would prevent vectorisation.
_COPTS = ["-O3", "-fno-math-errno", "-fno-trapping-math"]

def kernel_library(name, table, copts = [], micro_rows = 4, vector_bytes = 16):
    """Set<table>Kernels and Set<table>Products, which fill in a TileKernelTable.

    Args:
      name: of the library.
      table: names the functions; "Baseline" sets every kernel, others only what gains from them.
      copts: select the instruction set.
      micro_rows: rows of the contraction kernel's register block.
      vector_bytes: size of a vector register.
    """
    defines = [
        "EMBER_SET_KERNELS=Set%sKernels" % table,
        "EMBER_KERNEL_NAME=\\\"%s\\\"" % table.lower(),
        "EMBER_SET_PRODUCTS=Set%sProducts" % table,
        "EMBER_MICRO_ROWS=%d" % micro_rows,
        "EMBER_VECTOR_BYTES=%d" % vector_bytes,
    ] + ([] if table == "Baseline" else ["EMBER_FAST_TYPES_ONLY"])
    ember_cc_library(
        name = name + "_micro",
        srcs = [
            "arithmetic.h",
            "loops.h",
            "micro_kernels.cc",
            "product_kernels.h",
            "reduce_kernels.h",
            "scalar_math.h",
        ],
        copts = _COPTS + copts + ["-ffp-contract=fast", "-Wno-unused-function"],
        local_defines = defines,
        runtime = True,
        visibility = ["//visibility:private"],
        deps = [":kernel_types"],
    )
    ember_cc_library(
        name = name,
        srcs = [
            "arithmetic.h",
            "loops.h",
            "move_kernels.h",
            "reduce_kernels.h",
            "scalar_math.h",
            "strip_kernels.cc",
        ],
        # Strip programs must round like the definition, so these files are compiled without fused
        # multiply-add.
        copts = _COPTS + copts + ["-ffp-contract=off", "-Wno-unused-function"],
        local_defines = defines,
        runtime = True,
        visibility = ["//visibility:private"],
        deps = [
            ":kernel_types",
            ":" + name + "_micro",
            "//base:dtype",
            "//tensor:instructions",
        ],
    )
