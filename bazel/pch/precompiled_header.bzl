"""precompiled_header: a header that is parsed once for all files that begin with the same flags.

A third of what a file of ours compiles is the standard library. gcc reads `NAME.h.gch` instead of `NAME.h`
if the flags agree, else it reads the header: a wrong flag costs time only. A target uses one by two fields:

    deps = ["//bazel/pch:library"],
    copts = ["-include", "$(BINDIR)/bazel/pch/library.h"],

The macros of //bazel:ember.bzl do that. Only gcc on this machine's processor uses them (--define=pch=yes in
.bazelrc); clang, clang-tidy, sanitizers and cross builds see that each file includes what it uses.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header(ctx):
    toolchain = find_cpp_toolchain(ctx)
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.symlink(output = header, target_file = ctx.file.src)

    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    external = cc_common.merge_cc_infos(cc_infos = [d[CcInfo] for d in ctx.attr.deps]).compilation_context
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts +
                             ["-x", "c++-header"],
        include_directories = external.includes,
        quote_include_directories = external.quote_includes,
        system_include_directories = external.system_includes,
        preprocessor_defines = external.defines,
        use_pic = True,
    )
    ctx.actions.run(
        outputs = [compiled],
        inputs = depset([header, ctx.file.src], transitive = [toolchain.all_files, external.headers]),
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + header.short_path,
    )
    files = depset([header, compiled])
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(headers = files)),
    ]

precompiled_header = rule(
    implementation = _precompiled_header,
    doc = "Compiles src to NAME.h.gch, with these flags after those of the command line.",
    attrs = {
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "src": attr.label(allow_single_file = [".h"], mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
