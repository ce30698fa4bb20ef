"""flatbuffer_cc_library: C++ code from a FlatBuffers schema."""

load("@rules_cc//cc:cc_library.bzl", "cc_library")

def flatbuffer_cc_library(name, src, gen_object_api = False, reflection = False, **kwargs):
    """Generates SRC_generated.h from SRC.fbs and wraps it in a header-only library.

    Include it by its path in the repository: "vm/format/module_generated.h".

    Args:
      name: the cc_library.
      src: the schema, NAME.fbs in this package.
      gen_object_api: also generate the mutable NameT structs (allocates; not for the runtime).
      reflection: also write NAME.bfbs, the binary schema, as target NAME_bfbs.
      **kwargs: passed to the cc_library (visibility, deps ...).
    """
    stem = src.rpartition(".")[0]
    flags = "--cpp --cpp-std c++17 --scoped-enums --reflect-names --filename-suffix _generated"
    if gen_object_api:
        flags += " --gen-object-api --gen-compare"
    header = stem + "_generated.h"
    flatc = "$(location @flatbuffers//:flatc)"

    # The pragma keeps warnings (errors for us) out of generated code.
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [header],
        cmd = "%s %s -o $(RULEDIR) $< && sed -i '1i #pragma GCC system_header' $@" % (flatc, flags),
        tools = ["@flatbuffers//:flatc"],
    )
    if reflection:
        native.genrule(
            name = name + "_bfbs",
            srcs = [src],
            outs = [stem + ".bfbs"],
            cmd = flatc + " -b --schema --bfbs-comments --bfbs-builtins -o $(RULEDIR) $<",
            tools = ["@flatbuffers//:flatc"],
        )
    cc_library(
        name = name,
        hdrs = [header],
        deps = kwargs.pop("deps", []) + ["@flatbuffers//:runtime_cc"],
        **kwargs
    )
