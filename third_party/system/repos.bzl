"""Repository rules that expose Debian packages as Bazel repositories.

Every rule checks for what it needs and stops with the apt-get line that
repairs it. Rules run only when a target of their repository is needed.
"""

def _header(rctx):
    # str(Label) of the main repository: "//..." in Bazel 4/5, "@//..." or "@@//..." later.
    bzl = str(rctx.attr._system_cc)
    if bzl.startswith("//"):
        bzl = "@" + bzl
    return 'load("%s", "system_cc_library")\npackage(default_visibility = ["//visibility:public"])\n' % bzl

def _multiarch(rctx):
    r = rctx.execute(["uname", "-m"])
    return {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}[r.stdout.strip()]

def _need(rctx, paths, packages):
    for p in paths:
        if not rctx.path(p).exists:
            fail("@%s needs %s: run ./dev setup, or apt-get install %s" % (rctx.name, p, " ".join(packages)))

def _symlink_headers(rctx, names):
    """Makes /usr/include/NAME real inputs, for header-only libraries.

    Cross compilers do not look into /usr/include, and must not.
    """
    for n in names:
        rctx.symlink("/usr/include/" + n, "include/" + n)

def _header_lib(name, defines = []):
    return """cc_library(
    name = %r,
    hdrs = glob(["include/**"]),
    defines = %r,
    includes = ["include"],
)
""" % (name, defines)

def _version(rctx, package):
    """The installed package version: part of a define, so that an upgrade rebuilds."""
    r = rctx.execute(["dpkg-query", "-W", "-f=${Version}", package])
    return r.stdout.strip() if r.return_code == 0 else "unknown"

def _stamp(rctx, package):
    v = _version(rctx, package)
    for c in [":", "~", "+", "-", "."]:
        v = v.replace(c, "_")
    return "SYSPKG_%s=%s" % (rctx.name, v)

_attrs = {
    "_system_cc": attr.label(default = "//third_party/system:system_cc.bzl"),
}

def _lib(name, includes = [], defines = [], linkopts = [], deps = []):
    return "system_cc_library(name = %r, system_includes = %r, defines = %r, linkopts = %r, deps = %r)\n" % (name, includes, defines, linkopts, deps)

# --------------------------------------------------------------------------- llvm
_LLVM_COMPONENTS = ["orcjit", "orctargetprocess", "native", "nvptx", "aarch64", "arm", "webassembly", "amdgpu", "passes", "ipo", "vectorize", "bitreader", "bitwriter", "irreader", "linker", "mcjit", "target"]

def _llvm_config(rctx, cfg, *args):
    r = rctx.execute([cfg] + list(args))
    if r.return_code != 0:
        fail("@%s: %s %s failed: %s" % (rctx.name, cfg, " ".join(args), r.stderr))
    return r.stdout.strip()

def _llvm_impl(rctx):
    v = rctx.attr.version
    pkgs = ["llvm-%s-dev" % v]
    cfg = rctx.os.environ.get("LLVM_CONFIG") or rctx.which("llvm-config-" + v)
    if not cfg:
        fail("@%s needs llvm-config-%s: run ./dev setup, or apt-get install %s" % (rctx.name, v, " ".join(pkgs)))

    inc = ["/usr/include/llvm-" + v, "/usr/include/llvm-c-" + v]
    _need(rctx, [i + "/" + f for i, f in zip(inc, ["llvm/IR/Module.h", "llvm-c/Core.h"])], pkgs)
    libdir = _llvm_config(rctx, cfg, "--libdir")
    shared = _llvm_config(rctx, cfg, "--link-shared", "--libs").split(" ")
    components = [c for c in _LLVM_COMPONENTS if c in _llvm_config(rctx, cfg, "--components").split(" ")]
    static = _llvm_config(rctx, cfg, "--link-static", "--libs", *components).split(" ")
    system = _llvm_config(rctx, cfg, "--link-static", "--system-libs", *components).split(" ")
    defines = ["_GNU_SOURCE", "__STDC_CONSTANT_MACROS", "__STDC_FORMAT_MACROS", "__STDC_LIMIT_MACROS", _stamp(rctx, pkgs[0])]
    out = _header(rctx)
    out += _lib("headers", inc, defines)
    out += _lib("shared", [], [], ["-L" + libdir] + shared, [":headers"])
    out += _lib("static", [], [], ["-L" + libdir, "-Wl,--start-group"] + static + ["-Wl,--end-group"] + [s for s in system if s], [":headers"])
    out += """
config_setting(name = "want_static", define_values = {"llvm": "static"})
# --define=llvm=static picks the archives, the default is libLLVM-%s.so.
alias(name = "llvm", actual = select({":want_static": ":static", "//conditions:default": ":shared"}))
""" % v
    rctx.file("BUILD", out)
    rctx.file("defs.bzl", "LLVM_VERSION = %r\nLLVM_BINDIR = %r\nLLVM_TARGETS = %r\n" % (_llvm_config(rctx, cfg, "--version"), _llvm_config(rctx, cfg, "--bindir"), _llvm_config(rctx, cfg, "--targets-built").split(" ")))

system_llvm = repository_rule(
    implementation = _llvm_impl,
    attrs = dict(_attrs, version = attr.string(default = "19")),
    environ = ["LLVM_CONFIG", "PATH"],
    local = True,
    configure = True,
)

# --------------------------------------------------------------------------- abseil
# Bazel package of the upstream tree -> {target: pkg-config module (absl_*)}
_ABSL = {
    "absl/algorithm": {"algorithm": "algorithm", "container": "algorithm_container"},
    "absl/base": {"base": "base", "core_headers": "core_headers", "config": "config", "endian": "endian", "log_severity": "log_severity", "dynamic_annotations": "dynamic_annotations"},
    "absl/cleanup": {"cleanup": "cleanup"},
    "absl/container": {t: t for t in ["btree", "fixed_array", "flat_hash_map", "flat_hash_set", "inlined_vector", "node_hash_map", "node_hash_set"]},
    "absl/debugging": {"failure_signal_handler": "failure_signal_handler", "leak_check": "leak_check", "stacktrace": "stacktrace", "symbolize": "symbolize"},
    "absl/flags": {"flag": "flags", "parse": "flags_parse", "usage": "flags_usage", "marshalling": "flags_marshalling", "reflection": "flags_reflection", "commandlineflag": "flags_commandlineflag"},
    "absl/functional": {"any_invocable": "any_invocable", "bind_front": "bind_front", "function_ref": "function_ref"},
    "absl/hash": {"hash": "hash"},
    "absl/memory": {"memory": "memory"},
    "absl/meta": {"type_traits": "type_traits"},
    "absl/numeric": {"bits": "bits", "int128": "int128"},
    "absl/random": {"random": "random_random", "distributions": "random_distributions", "seed_sequences": "random_seed_sequences", "bit_gen_ref": "random_bit_gen_ref"},
    "absl/status": {"status": "status", "statusor": "statusor"},
    "absl/strings": {"strings": "strings", "str_format": "str_format", "cord": "cord"},
    "absl/synchronization": {"synchronization": "synchronization"},
    "absl/time": {"time": "time"},
    "absl/types": {t: t for t in ["any", "compare", "optional", "span", "variant"]},
    "absl/utility": {"utility": "utility"},
}

def _absl_impl(rctx):
    ma = _multiarch(rctx)
    pcdir = "/usr/lib/%s/pkgconfig" % ma
    _need(rctx, ["/usr/include/absl/base/options.h", pcdir + "/absl_base.pc"], ["libabsl-dev"])
    stamp = _stamp(rctx, "libabsl-dev")
    out = _header(rctx) + _lib("stamp", defines = [stamp])
    for f in rctx.path(pcdir).readdir():
        name = f.basename
        if not (name.startswith("absl_") and name.endswith(".pc")):
            continue
        deps, libs = [":stamp"], []
        for line in rctx.read(f).split("\n"):
            if line.startswith("Requires:"):
                for item in line[len("Requires:"):].split(","):
                    item = item.strip().split(" ")[0]
                    if item:
                        deps.append(":pc_" + item)
            elif line.startswith("Libs:"):
                for w in line[len("Libs:"):].split(" "):
                    if w.startswith("-labsl_"):
                        libs.append("-l:lib%s.a" % w[2:])
                    elif w == "-lrt" or w == "-pthread":  # drop -latomic, -lm: not needed on x86-64/aarch64
                        libs.append(w)
        out += _lib("pc_" + name[:-3], linkopts = libs, deps = deps)
    rctx.file("BUILD", out)
    for pkg, targets in _ABSL.items():
        b = 'package(default_visibility = ["//visibility:public"])\n'
        for t, pc in targets.items():
            _need(rctx, [pcdir + "/absl_%s.pc" % pc], ["libabsl-dev"])
            b += 'alias(name = %r, actual = "//:pc_absl_%s")\n' % (t, pc)
        rctx.file(pkg + "/BUILD", b)

system_abseil = repository_rule(implementation = _absl_impl, attrs = _attrs, local = True, configure = True)

# --------------------------------------------------------------------------- small ones
def _flatbuffers_impl(rctx):
    ma = _multiarch(rctx)
    flatc = rctx.which("flatc")
    _need(rctx, ["/usr/include/flatbuffers/flatbuffers.h", "/usr/lib/%s/libflatbuffers.a" % ma, flatc or "/usr/bin/flatc"], ["libflatbuffers-dev", "flatbuffers-compiler"])
    rctx.symlink(flatc, "flatc_bin")
    _symlink_headers(rctx, ["flatbuffers"])
    rctx.file("BUILD", _header(rctx) +
                       # 64: constants start on cache lines (ForceVectorAlignment; flatc itself stops at 16).
                       _header_lib("runtime_cc", ["FLATBUFFERS_MAX_ALIGNMENT=64", _stamp(rctx, "libflatbuffers-dev")]) +
                       _lib("flatbuffers", linkopts = ["-l:libflatbuffers.a"], deps = [":runtime_cc"]) +
                       'alias(name = "flatc", actual = ":flatc_bin")\nexports_files(["flatc_bin"])\n')

system_flatbuffers = repository_rule(implementation = _flatbuffers_impl, attrs = _attrs, local = True, configure = True)

def _gtest_impl(rctx):
    ma = _multiarch(rctx)
    d = "/usr/lib/%s/" % ma
    _need(rctx, ["/usr/include/gtest/gtest.h", "/usr/include/gmock/gmock.h", d + "libgtest.a", d + "libgmock.a"], ["libgtest-dev", "libgmock-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("gtest", defines = [_stamp(rctx, "libgtest-dev")], linkopts = ["-l:libgmock.a", "-l:libgtest.a", "-lpthread"]) +
                       _lib("gtest_main", linkopts = ["-l:libgmock_main.a"], deps = [":gtest"]))

system_googletest = repository_rule(implementation = _gtest_impl, attrs = _attrs, local = True, configure = True)

def _benchmark_impl(rctx):
    _need(rctx, ["/usr/include/benchmark/benchmark.h"], ["libbenchmark-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("benchmark", defines = [_stamp(rctx, "libbenchmark-dev")], linkopts = ["-lbenchmark", "-lpthread"]) +
                       _lib("benchmark_main", linkopts = ["-l:libbenchmark_main.a"], deps = [":benchmark"]))

system_benchmark = repository_rule(implementation = _benchmark_impl, attrs = _attrs, local = True, configure = True)

def _protobuf_impl(rctx):
    ma = _multiarch(rctx)
    protoc = rctx.which("protoc")
    _need(rctx, ["/usr/include/google/protobuf/message.h", "/usr/lib/%s/libprotobuf.a" % ma, protoc or "/usr/bin/protoc"], ["libprotobuf-dev", "protobuf-compiler"])
    rctx.symlink(protoc, "protoc_bin")
    stamp = _stamp(rctx, "libprotobuf-dev")
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [stamp]) +
                       _lib("protobuf", linkopts = ["-l:libprotobuf.a", "-lz", "-lpthread"], deps = [":headers"]) +
                       _lib("protobuf_lite", linkopts = ["-l:libprotobuf-lite.a", "-lpthread"], deps = [":headers"]) +
                       _lib("protobuf_shared", linkopts = ["-lprotobuf", "-lpthread"], deps = [":headers"]) +
                       'alias(name = "protoc", actual = ":protoc_bin")\nexports_files(["protoc_bin"])\n')

system_protobuf = repository_rule(implementation = _protobuf_impl, attrs = _attrs, local = True, configure = True)

def _nlohmann_json_impl(rctx):
    _need(rctx, ["/usr/include/nlohmann/json.hpp"], ["nlohmann-json3-dev"])
    _symlink_headers(rctx, ["nlohmann"])
    rctx.file("BUILD", 'package(default_visibility = ["//visibility:public"])\n' +
                       _header_lib("nlohmann_json", [_stamp(rctx, "nlohmann-json3-dev")]))

system_nlohmann_json = repository_rule(implementation = _nlohmann_json_impl, local = True, configure = True)

def _re2_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/re2/re2.h", "/usr/lib/%s/libre2.so" % ma], ["libre2-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libre2-dev")]) +
                       _lib("re2", linkopts = ["-lre2"], deps = [":headers"]))

system_re2 = repository_rule(implementation = _re2_impl, attrs = _attrs, local = True, configure = True)

def _pcre2_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/pcre2.h", "/usr/lib/%s/libpcre2-8.a" % ma], ["libpcre2-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libpcre2-dev")]) +
                       _lib("pcre2", linkopts = ["-l:libpcre2-8.a"], deps = [":headers"]))

system_pcre2 = repository_rule(implementation = _pcre2_impl, attrs = _attrs, local = True, configure = True)

def _utf8proc_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/utf8proc.h", "/usr/lib/%s/libutf8proc.a" % ma], ["libutf8proc-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libutf8proc-dev")]) +
                       _lib("utf8proc", linkopts = ["-l:libutf8proc.a"], deps = [":headers"]))

system_utf8proc = repository_rule(implementation = _utf8proc_impl, attrs = _attrs, local = True, configure = True)

def _zlib_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/zlib.h", "/usr/lib/%s/libz.a" % ma], ["zlib1g-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "zlib1g-dev")]) +
                       _lib("zlib", linkopts = ["-l:libz.a"], deps = [":headers"]))

system_zlib = repository_rule(implementation = _zlib_impl, attrs = _attrs, local = True, configure = True)

def _png_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/png.h", "/usr/lib/%s/libpng16.a" % ma, "/usr/lib/%s/libz.a" % ma], ["libpng-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libpng-dev")]) +
                       _lib("png", linkopts = ["-l:libpng16.a", "-l:libz.a", "-lm"], deps = [":headers"]))

system_png = repository_rule(implementation = _png_impl, attrs = _attrs, local = True, configure = True)

def _jpeg_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/jpeglib.h", "/usr/lib/%s/libjpeg.a" % ma], ["libjpeg62-turbo-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libjpeg62-turbo-dev")]) +
                       _lib("jpeg", linkopts = ["-l:libjpeg.a"], deps = [":headers"]))

system_jpeg = repository_rule(implementation = _jpeg_impl, attrs = _attrs, local = True, configure = True)

def _webp_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/webp/decode.h", "/usr/lib/%s/libwebp.a" % ma], ["libwebp-dev"])

    # Newer versions keep the conversion of colours in a library of its own.
    sharpyuv = ["-l:libsharpyuv.a"] if rctx.path("/usr/lib/%s/libsharpyuv.a" % ma).exists else []
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libwebp-dev")]) +
                       _lib("webp", linkopts = ["-l:libwebp.a"] + sharpyuv + ["-lm"], deps = [":headers"]))

system_webp = repository_rule(implementation = _webp_impl, attrs = _attrs, local = True, configure = True)

def _openjpeg_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/openjpeg-2.5/openjpeg.h", "/usr/lib/%s/libopenjp2.a" % ma], ["libopenjp2-7-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libopenjp2-7-dev")]) +
                       _lib("openjpeg", linkopts = ["-l:libopenjp2.a", "-lm", "-lpthread"], deps = [":headers"]))

system_openjpeg = repository_rule(implementation = _openjpeg_impl, attrs = _attrs, local = True, configure = True)

# The libraries of compressions that libtiff uses, with the packages that hold their archives.
_TIFF_PARTS = {
    "Lerc": "liblerc-dev",
    "deflate": "libdeflate-dev",
    "jbig": "libjbig-dev",
    "lzma": "liblzma-dev",
    "zstd": "libzstd-dev",
}

def _tiff_impl(rctx):
    ma = _multiarch(rctx)
    parts = ["/usr/lib/%s/lib%s.a" % (ma, part) for part in _TIFF_PARTS]
    _need(rctx, ["/usr/include/%s/tiffio.h" % ma, "/usr/lib/%s/libtiff.a" % ma] + parts, ["libtiff-dev"] + _TIFF_PARTS.values())
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libtiff-dev")]) +
                       _lib(
                           "tiff",
                           linkopts = ["-l:libtiff.a"] + ["-l:lib%s.a" % part for part in _TIFF_PARTS],
                           deps = [":headers", "@jpeg", "@webp", "@zlib"],
                       ))

system_tiff = repository_rule(implementation = _tiff_impl, attrs = _attrs, local = True, configure = True)

def _sodium_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/sodium.h", "/usr/lib/%s/libsodium.a" % ma], ["libsodium-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libsodium-dev")]) +
                       _lib("sodium", linkopts = ["-l:libsodium.a", "-lpthread"], deps = [":headers"]))

system_sodium = repository_rule(implementation = _sodium_impl, attrs = _attrs, local = True, configure = True)

def _sqlite_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/sqlite3.h", "/usr/lib/%s/libsqlite3.a" % ma], ["libsqlite3-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libsqlite3-dev")]) +
                       _lib("sqlite", linkopts = ["-l:libsqlite3.a", "-lm", "-ldl", "-lpthread"], deps = [":headers"]))

system_sqlite = repository_rule(implementation = _sqlite_impl, attrs = _attrs, local = True, configure = True)

def _nats_impl(rctx):
    """Optional: without libnats-dev the repository exists, and targets that need it are skipped by //...."""
    if not rctx.path("/usr/include/nats/nats.h").exists:
        print("vm-tune has no nats:// addresses: libnats-dev is missing; ./dev setup --for=fleet installs it")
        rctx.file("BUILD", """package(default_visibility = ["//visibility:public"])
cc_library(name = "nats", target_compatible_with = ["@//:incompatible"])
""")
        return
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libnats-dev")]) +
                       _lib("nats", linkopts = ["-lnats"], deps = [":headers"]))

system_nats = repository_rule(implementation = _nats_impl, attrs = _attrs, local = True, configure = True)

def _snappy_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/snappy-c.h", "/usr/lib/%s/libsnappy.a" % ma], ["libsnappy-dev"])
    rctx.file("BUILD", _header(rctx) +
                       _lib("headers", defines = [_stamp(rctx, "libsnappy-dev")]) +
                       _lib("snappy", linkopts = ["-l:libsnappy.a"], deps = [":headers"]))

system_snappy = repository_rule(implementation = _snappy_impl, attrs = _attrs, local = True, configure = True)

def _vulkan_impl(rctx):
    ma = _multiarch(rctx)
    _need(rctx, ["/usr/include/vulkan/vulkan.h", "/usr/lib/%s/libvulkan.so" % ma], ["libvulkan-dev"])
    _need(rctx, ["/usr/include/spirv-tools/libspirv.h", "/usr/lib/%s/libSPIRV-Tools.a" % ma], ["spirv-tools"])
    _need(rctx, ["/usr/include/spirv/unified1/spirv.hpp11"], ["spirv-headers"])
    icd = ""
    for f in rctx.path("/usr/share/vulkan/icd.d").readdir() if rctx.path("/usr/share/vulkan/icd.d").exists else []:
        if f.basename.startswith("lvp_icd"):
            icd = str(f)
    _symlink_headers(rctx, ["vulkan", "vk_video", "spirv", "spirv-tools"])
    rctx.file("BUILD", _header(rctx) +
                       _header_lib("headers", [_stamp(rctx, "libvulkan-dev")]) +
                       # Tests only: drivers dlopen the loader.
                       _lib("loader", linkopts = ["-lvulkan"], deps = [":headers"]) +
                       'alias(name = "spirv_headers", actual = ":headers")\n' +
                       _lib("spirv_tools", linkopts = ["-l:libSPIRV-Tools-opt.a", "-l:libSPIRV-Tools.a"], deps = [":headers"]))
    rctx.file("defs.bzl", "LAVAPIPE_ICD = %r  # empty: package mesa-vulkan-drivers is not installed\n" % icd)

system_vulkan = repository_rule(implementation = _vulkan_impl, attrs = _attrs, local = True, configure = True)

def _cuda_impl(rctx):
    """Optional: without a toolkit the repository exists and only its targets fail."""
    root = rctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    out = _header(rctx)
    if not rctx.path(root + "/include/cuda.h").exists:
        # Whatever depends on this is skipped by //... and refused, with this name in the
        # message, when asked for explicitly.
        rctx.file("BUILD", """package(default_visibility = ["//visibility:public"])
cc_library(name = "cuda_toolkit_not_found_set_CUDA_HOME", target_compatible_with = ["@//:incompatible"])
cc_library(name = "headers", deps = [":cuda_toolkit_not_found_set_CUDA_HOME"])
""")
        rctx.file("defs.bzl", "CUDA_AVAILABLE = False\nCUDA_HOME = \"\"\n")
        return

    # /usr/local/cuda/include is not a built-in include dir, so the headers
    # must be real inputs: symlink the few that are used.
    names = ["cuda.h", "nvrtc.h"]
    for n in names:
        _need(rctx, ["%s/include/%s" % (root, n)], ["(the CUDA toolkit)"])
        rctx.symlink("%s/include/%s" % (root, n), "include/" + n)
    rctx.file("BUILD", out + 'cc_library(name = "headers", hdrs = glob(["include/*.h"]), includes = ["include"])\n')
    rctx.file("defs.bzl", "CUDA_AVAILABLE = True\nCUDA_HOME = %r\n" % root)

system_cuda = repository_rule(implementation = _cuda_impl, attrs = _attrs, environ = ["CUDA_HOME"], local = True, configure = True)

# --------------------------------------------------------------------------- vm-report's page
def _report_page_impl(rctx):
    """Optional: without the libraries the repository exists, and targets that need them are skipped by //...

    The folder is that of need_report_page of tools/dev/lib/common.sh. Its lock file says which libraries it has.
    """
    home = rctx.os.environ.get("HOME", "/root")
    folder = rctx.os.environ.get("XDG_CACHE_HOME", home + "/.cache") + "/ember/report-page"
    lock = rctx.path(folder + "/package-lock.json")
    if not lock.exists or rctx.read(lock) != rctx.read(rctx.attr._lock):
        print("vm-report is not built: the libraries of its page are missing; ./dev setup --for=report installs them")
        rctx.file("BUILD", """package(default_visibility = ["//visibility:public"])
cc_library(name = "libraries", target_compatible_with = ["@//:incompatible"])
""")
        return
    rctx.symlink(folder + "/node_modules/d3/dist/d3.min.js", "d3.min.js")
    rctx.symlink(folder + "/node_modules/d3-dag/dist/d3-dag.iife.min.js", "d3-dag.iife.min.js")
    rctx.file("BUILD", """package(default_visibility = ["//visibility:public"])
filegroup(name = "libraries", srcs = ["d3.min.js", "d3-dag.iife.min.js"])
""")

report_page_libraries = repository_rule(
    implementation = _report_page_impl,
    attrs = {"_lock": attr.label(default = "//third_party/report_page:package-lock.json")},
    environ = ["HOME", "XDG_CACHE_HOME"],
    local = True,
    configure = True,
)

def system_repositories():
    """Declares every system library repository; each is looked up only when used."""
    system_llvm(name = "llvm")
    system_abseil(name = "abseil")
    system_flatbuffers(name = "flatbuffers")
    system_googletest(name = "googletest")
    system_benchmark(name = "benchmark")
    system_protobuf(name = "protobuf")
    system_nlohmann_json(name = "nlohmann_json")
    system_re2(name = "re2")
    system_pcre2(name = "pcre2")
    system_utf8proc(name = "utf8proc")
    system_sodium(name = "sodium")
    system_snappy(name = "snappy")
    system_nats(name = "nats")
    system_sqlite(name = "sqlite")
    system_zlib(name = "zlib")
    system_png(name = "png")
    system_jpeg(name = "jpeg")
    system_openjpeg(name = "openjpeg")
    system_tiff(name = "tiff")
    system_webp(name = "webp")
    system_vulkan(name = "vulkan")
    system_cuda(name = "cuda")
    report_page_libraries(name = "report_page")
