"""wasm_sdk: says whether Debian's compiler and libraries for WebAssembly are installed (tools/dev/lib/common.sh)."""

_NEEDED = [
    "/usr/lib/llvm-19/bin/clang",
    "/usr/lib/llvm-19/bin/wasm-ld",
    # The compiler runs it after the linker if it is there; it saves an eighth of the bytes.
    "/usr/bin/wasm-opt",
    "/usr/include/wasm32-wasi/stdlib.h",
    "/usr/lib/llvm-19/include/wasm32-wasi/c++/v1/vector",
    "/usr/lib/llvm-19/lib/wasm32-wasi/libc++abi.a",
    "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a",
]

def _wasm_sdk_impl(rctx):
    """Optional: without the packages the repository exists, and targets that need them are skipped by //..."""
    missing = [path for path in _NEEDED if not rctx.path(path).exists]
    skip = ""
    if missing:
        print("the runtime for browsers is not built: %s is missing; ./dev setup --for=browser installs it" % missing[0])
        skip = ', target_compatible_with = ["@//:incompatible"]'
    rctx.file("BUILD", 'cc_library(name = "is_installed", visibility = ["//visibility:public"]%s)\n' % skip)

wasm_sdk = repository_rule(implementation = _wasm_sdk_impl, local = True, configure = True)
