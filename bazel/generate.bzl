"""generate: files written by a tool of ours."""

def _generate_impl(ctx):
    tool = ctx.executable.tool
    ctx.actions.run_shell(
        command = "set -eu; " + ctx.attr.command,
        env = {
            # The command may call a compiler, which finds other programs by PATH.
            "PATH": "/usr/bin:/bin",
            "OUTS": " ".join([out.path for out in ctx.outputs.outs]),
            "SRCS": " ".join([src.path for src in ctx.files.srcs]),
            "TOOL": tool.path,
        },
        inputs = ctx.files.srcs,
        mnemonic = "Generate",
        outputs = ctx.outputs.outs,
        progress_message = "Generating %s" % ctx.label,
        tools = [tool],
    )
    return [DefaultInfo(files = depset(ctx.outputs.outs))]

# A genrule builds its tools for the host, separately from the same code in tests and programs, so
# the compiler and everything below it would be built twice. This rule runs the tool as it is built
# for the target configuration, so nothing is built twice. Therefore the rule cannot be used in a
# cross build (toolchains/cross.bzl passes generated files on as data instead).
generate = rule(
    implementation = _generate_impl,
    doc = """Runs a tool that writes `outs`.

    generate(
        name = "compile_digits",
        srcs = ["digits.onnx"],
        outs = ["digits.vmfb"],
        command = "$TOOL $SRCS -o $OUTS",
        tool = "//tools:vm-compile",
    )
    """,
    attrs = {
        "command": attr.string(mandatory = True, doc = "With $TOOL, $SRCS and $OUTS."),
        "outs": attr.output_list(mandatory = True),
        "srcs": attr.label_list(allow_files = True),
        "tool": attr.label(mandatory = True, cfg = "target", executable = True),
    },
)
