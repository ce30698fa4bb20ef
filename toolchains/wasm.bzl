"""wasm_binary builds a cc_binary for WebAssembly (wasm_cc_config.bzl)."""

load(":warnings.bzl", "WARNINGS")

def _transition_impl(_settings, attr):
    return {
        "//command_line_option:compilation_mode": "opt",
        # Flags such as those of --config=asan or clang19 are for the host's compiler, so a build for
        # WebAssembly does not inherit them.
        "//command_line_option:copt": WARNINGS,
        "//command_line_option:cxxopt": ["-std=c++20"],
        "//command_line_option:features": ["tiny"],
        "//command_line_option:linkopt": [],
        "//command_line_option:platform_suffix": "",
        "//command_line_option:platforms": ["//toolchains:wasm"],
        # Builds for WebAssembly use no precompiled headers: gcc makes them, and clang compiles for
        # WebAssembly.
        "//bazel/pch:is_possible": False,
    }

_wasm_transition = transition(
    implementation = _transition_impl,
    inputs = [],
    outputs = [
        "//command_line_option:compilation_mode",
        "//command_line_option:copt",
        "//command_line_option:cxxopt",
        "//command_line_option:features",
        "//command_line_option:linkopt",
        "//command_line_option:platform_suffix",
        "//command_line_option:platforms",
        "//bazel/pch:is_possible",
    ],
)

def _wasm_impl(ctx):
    # In some versions of Bazel an attribute with a transition is a list, in others a single target.
    binary = ctx.executable.binary
    if type(binary) != "File":
        binary = binary[0]
    out = ctx.actions.declare_file(ctx.label.name)

    # Copies the binary instead of linking to it: a test that runs in a folder of its own would find
    # a link to nothing.
    ctx.actions.run_shell(inputs = [binary], outputs = [out], command = "cp -L '%s' '%s'" % (binary.path, out.path))
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

wasm_binary = rule(
    implementation = _wasm_impl,
    attrs = {
        "binary": attr.label(mandatory = True, cfg = _wasm_transition, executable = True),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
