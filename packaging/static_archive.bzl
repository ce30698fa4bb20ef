"""static_archive: one archive of a library and all that it depends on."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _static_archive_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    archives, objects = [], []
    for dep in ctx.attr.deps:
        for linker_input in dep[CcInfo].linking_context.linker_inputs.to_list():
            for library in linker_input.libraries:
                archive = library.pic_static_library or library.static_library
                if archive:
                    archives.append(archive)
                else:
                    objects += library.pic_objects or library.objects
    out = ctx.actions.declare_file(ctx.label.name)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(
        script,
        "\n".join(
            ["create " + out.path] +
            ["addlib " + a.path for a in archives] +
            ["addmod " + o.path for o in objects] +
            ["save", "end", ""],
        ),
    )
    ctx.actions.run_shell(
        # -D writes no times and owners into the archive, so that it is reproducible; s adds the
        # index of symbols.
        command = '"$1" -M < "$2" && "$1" -Ds "$3"',
        arguments = [toolchain.ar_executable, script.path, out.path],
        inputs = depset(archives + objects + [script], transitive = [toolchain.all_files]),
        mnemonic = "StaticArchive",
        outputs = [out],
    )
    return [DefaultInfo(files = depset([out]))]

static_archive = rule(
    implementation = _static_archive_impl,
    doc = """The archive that a program links which was not built by Bazel.

    static_archive(
        name = "libember.a",
        deps = ["//vm/api:ember"],
    )
    """,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
