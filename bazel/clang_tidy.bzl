"""clang-tidy as a step of the build: `bazel build --config=tidy --keep_going //...`.

Each of our .cc files is checked by an action of its own, which gives an empty file. So a file is checked anew only when
it, a header that it includes, its flags or .clang-tidy differ from what the disk cache knows.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _command_line(ctx, context):
    """What the compiler is called with for a .cc of the target, without the file."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.rule.attr.copts
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = flags,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        # No provider has the rule's own local_defines, so they are read from its attribute. BUILD
        # files write them as for a shell, with escaped quotes.
        preprocessor_defines = depset(
            [d.replace('\\"', '"') for d in getattr(ctx.rule.attr, "local_defines", [])],
            transitive = [context.defines],
        ),
    )
    command = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    )

    # -Werror is dropped: the file .clang-tidy decides which warnings are errors.
    return [flag for flag in command if flag != "-Werror"], toolchain

def _clang_tidy_impl(target, ctx):
    # Skips targets that are not C++. C++ libraries have the provider CcInfo. In Bazel 4.2 C++
    # programs and tests lack it, but only they have the attribute `malloc`.
    if target.label.workspace_root or CcInfo not in target and not hasattr(ctx.rule.attr, "malloc"):
        return []
    sources = [f for attribute in getattr(ctx.rule.attr, "srcs", []) for f in attribute.files.to_list()]
    ours = [f for f in sources if f.is_source and f.extension == "cc"]
    if not ours:
        return []
    infos = [dep[CcInfo] for dep in ctx.rule.attr.deps if CcInfo in dep]
    if CcInfo in target:
        infos.append(target[CcInfo])
    context = cc_common.merge_cc_infos(cc_infos = infos).compilation_context
    command, toolchain = _command_line(ctx, context)
    inputs = depset(
        [ctx.file._configuration] + sources,
        transitive = [context.headers, toolchain.all_files],
    )
    checked = []
    for source in ours:
        result = ctx.actions.declare_file("{}.{}.tidy".format(ctx.label.name, source.basename))
        ctx.actions.run_shell(
            mnemonic = "ClangTidy",
            progress_message = "clang-tidy " + source.short_path,
            inputs = inputs,
            outputs = [result],
            # clang-tidy prints the number of suppressed warnings even if it has nothing else to
            # print. The filter removes that line.
            command = "result=$1; shift; " +
                      "clang-tidy-19 --quiet \"$@\" 2>&1 | sed '/^[0-9]* warnings\\? .*generated/d'; " +
                      "[[ ${PIPESTATUS[0]} == 0 ]] && touch \"$result\"",
            arguments = [result.path, source.path, "--"] + command,
            use_default_shell_env = True,
        )
        checked.append(result)
    return [OutputGroupInfo(clang_tidy = depset(checked))]

clang_tidy = aspect(
    implementation = _clang_tidy_impl,
    attrs = {
        "_configuration": attr.label(default = "//:.clang-tidy", allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
