"""The cc_toolchain_config for WebAssembly: Debian's clang 19 with wasi-libc and libc++ for wasm32.

Debian's libc++ for wasm32 has no threads. The folder wasm/include has what a build without threads and
mappings needs of <mutex>, <thread> and <sys/mman.h>; it precedes the system's headers.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load(
    "@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl",
    "feature",
    "flag_group",
    "flag_set",
    "tool_path",
)
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")

_COMPILE = [ACTION_NAMES.c_compile, ACTION_NAMES.cpp_compile, ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble, ACTION_NAMES.linkstamp_compile]
_CXX = [ACTION_NAMES.cpp_compile, ACTION_NAMES.linkstamp_compile]
_LINK = [ACTION_NAMES.cpp_link_executable, ACTION_NAMES.cpp_link_dynamic_library, ACTION_NAMES.cpp_link_nodeps_dynamic_library]

_TARGET = ["--target=wasm32-wasi"]

# Every browser that has SIMD128 (Chrome and Firefox since 2021, Safari since 2023) also has the
# other features.
_FEATURES = ["-msimd128", "-mbulk-memory", "-msign-ext", "-mnontrapping-fptoint", "-mmutable-globals"]

_TINY = ["-Oz", "-flto"]

def _set(actions, flags):
    return flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])

def _impl(ctx):
    bin = "/usr/lib/llvm-19/bin/"
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "wasm32-wasi",
        host_system_name = "local",
        target_system_name = "wasm32-wasi",
        target_cpu = "wasm32",
        target_libc = "wasi",
        compiler = "clang",
        abi_version = "wasi",
        abi_libc_version = "wasi",
        # Folders whose headers the compiler may include although no rule declares them.
        cxx_builtin_include_directories = [
            "/usr/include/wasm32-wasi",
            "/usr/lib/llvm-19/include/wasm32-wasi/c++/v1",
            "/usr/lib/llvm-19/lib/clang/19/include",
            "/usr/lib/clang/19/include",
            "%package(//toolchains)%/wasm/include",
        ],
        tool_paths = [
            tool_path(name = "gcc", path = bin + "clang"),
            tool_path(name = "cpp", path = bin + "clang-cpp"),
            tool_path(name = "ld", path = bin + "wasm-ld"),
            tool_path(name = "ar", path = bin + "llvm-ar"),
            tool_path(name = "nm", path = bin + "llvm-nm"),
            tool_path(name = "gcov", path = "/bin/false"),
            tool_path(name = "objcopy", path = bin + "llvm-objcopy"),
            tool_path(name = "objdump", path = bin + "llvm-objdump"),
            tool_path(name = "strip", path = bin + "llvm-strip"),
        ],
        features = [
            feature(name = "dbg"),
            feature(name = "opt"),
            feature(name = "fastbuild"),
            feature(name = "default_flags", enabled = True, flag_sets = [
                _set(_COMPILE, _TARGET + _FEATURES + [
                    "-isystem",
                    "toolchains/wasm/include",
                    "-no-canonical-prefixes",
                    "-Wno-builtin-macro-redefined",
                    "-D__DATE__=\"redacted\"",
                    "-D__TIME__=\"redacted\"",
                    "-D__TIMESTAMP__=\"redacted\"",
                    "-DNDEBUG",
                    "-Os",
                    "-ffunction-sections",
                    "-fdata-sections",
                    "-fvisibility=hidden",
                ]),
                _set(_CXX, ["-fno-exceptions", "-fno-rtti"]),
                _set(_LINK, _TARGET + [
                    # Links a module without main(), which is a library of exported functions.
                    "-mexec-model=reactor",
                    # Silences clang's warning about -pie, which Bazel adds and which has no meaning
                    # for WebAssembly.
                    "-Wno-unused-command-line-argument",
                    "-lc++",
                    "-lc++abi",
                    "-Wl,--gc-sections",
                    "-Wl,--strip-all",
                    # A kernel is a WebAssembly instance of its own, which shares the runtime's
                    # memory, function table and stack, so these are exported.
                    "-Wl,--export-table",
                    "-Wl,--growable-table",
                    "-Wl,--export=__stack_pointer",
                    "-Wl,-z,stack-size=1048576",
                    # Places the stack at the beginning of the memory, so that an overflow of the
                    # stack traps instead of overwriting data.
                    "-Wl,--stack-first",
                ]),
            ]),
            # The flags that targets set (copts). They are a feature with a name so that the flags of
            # "tiny" come after them.
            feature(name = "user_compile_flags", enabled = True, flag_sets = [
                flag_set(actions = _COMPILE, flag_groups = [
                    flag_group(
                        flags = ["%{user_compile_flags}"],
                        iterate_over = "user_compile_flags",
                        expand_if_available = "user_compile_flags",
                    ),
                ]),
            ]),
            # The flags of this feature come after the warning flags of .bazelrc. Some of the latter
            # are names that only gcc knows, and one warns of private fields that only another
            # implementation of the class uses.
            feature(name = "warnings", enabled = True, flag_sets = [
                _set(_COMPILE, ["-Wno-unknown-warning-option", "-Wno-unused-private-field", "-Wno-unused-function"]),
            ]),
            # The feature for the runtime as it ships: small code instead of fast compilation.
            feature(name = "tiny", flag_sets = [
                _set(_COMPILE + _LINK, _TINY),
            ]),
        ],
    )

wasm_cc_config = rule(
    implementation = _impl,
    provides = [CcToolchainConfigInfo],
)
