"""Makes Debian packages, a Python wheel and a tar.gz of what Bazel has built; ./dev package calls it.

  package.py --bin=BAZEL_BIN --out=DIR [--arch=amd64|arm64|armhf|riscv64]

For this machine: libember, libember-dev, libember-jit, libember-compiler, libember-llm, ember-tools, python3-ember and the
wheel.
For another one the runtime alone: libember and libember-dev, and for arm64 a wheel. The tar.gz has the same files, without Python's, below
one folder that may lie anywhere.

Where files go (LIB is lib/TRIPLE in Debian packages, lib in the tar.gz; see vm/api/ember.h, EmberTier, for
where optional libraries are looked for):

  include/ember/ember.h, ember.hpp          libember-dev
  LIB/libember.so.0 -> libember.so.VERSION  libember
  LIB/libember.so, libember.a (of this machine), pkgconfig, cmake
                                            libember-dev
  lib/ember/libember_strings.so             libember, for models with strings; needs libre2
  lib/ember/libember_jit.so, ember-compile-worker, libember_llvm.so, include/ember/ember_te.h
                                            libember-jit; libember_llvm.so needs LLVM
  LIB/libember_compiler.so.0 -> libember_compiler.so.VERSION, LIB/libember_compiler.so, include/ember/ember_compiler.h
                                            libember-compiler
  LIB/libember_llm.so.0 -> libember_llm.so.VERSION, LIB/libember_llm.so, include/ember/ember_llm.h
                                            libember-llm
  bin/vm-compile, vm-run, ...; share/man/man1, share/bash-completion and share/zsh, made of their
  --help (help_text.py)
                                            ember-tools
  lib/python3/dist-packages/ember           python3-ember

  share/doc/PACKAGE/copyright               each package: Ember's licence, and those of linked libraries (notices.py)
"""

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import help_text
import python_package
from notices import notices

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TOOLS = ["vm-compile", "vm-run", "vm-bench", "vm-dump", "vm-diff", "vm-generate", "vm-prejit", "vm-report",
         "vm-sign", "vm-tune"]
# For each package of a library of the tools: the library's folder, its name, and its header.
TOOL_LIBRARIES = {
    "libember-compiler": ("tools/compiler_api", "libember_compiler.so", "ember_compiler.h"),
    "libember-llm": ("tools/llm_api", "libember_llm.so", "ember_llm.h"),
}
TRIPLES = {
    "amd64": "x86_64-linux-gnu",
    "arm64": "aarch64-linux-gnu",
    "armhf": "arm-linux-gnueabihf",
    "riscv64": "riscv64-linux-gnu",
}
# For each of Debian's names of machines: the machine's name in toolchains/BUILD.
BAZEL_NAMES = {"arm64": "aarch64", "armhf": "armhf", "riscv64": "riscv64"}
# For each package: the Bazel targets of its binaries. The package's notices name the libraries that
# these binaries contain.
LINKED = {
    "libember": ["//vm/api:libember.so", "//vm/api:libember_strings.so"],
    "libember-dev": ["//packaging:libember.a"],
    "libember-jit": ["//jit:libember_jit.so", "//jit/llvm/library:libember_llvm.so", "//jit/worker:ember-compile-worker"],
    **{package: ["//%s:%s" % (folder, name)] for package, (folder, name, _) in TOOL_LIBRARIES.items()},
    "ember-tools": ["//tools:" + tool for tool in TOOLS],
    "python3-ember": [],
}
# The targets whose libraries the wheel contains.
IN_WHEEL = LINKED["libember"] + LINKED["libember-jit"] + LINKED["libember-compiler"]
# For each package: the other ones that it needs, in exactly its version.
OWN = {
    "libember-dev": ["libember"],
    "libember-jit": ["libember"],
    "libember-llm": ["libember-jit"],
    "ember-tools": ["libember-jit"],
    "python3-ember": ["libember", "libember-jit", "libember-compiler"],
}
# For each package with a library that programs link: the library's name, from which its SONAME is
# made.
SONAMES = {"libember": "libember", "libember-compiler": "libember_compiler", "libember-llm": "libember_llm"}
MAINTAINER = "Ember <ember@localhost>"

# For each package: (section, one-line description, longer description).
PACKAGES = {
    "libember": ("libs", "runs compiled models: the runtime", """\
 Loads a module (model.vmfb), verifies it and runs it by interpretation,
 with kernels that the module carries, or with those that libember-jit makes."""),
    "libember-dev": ("libdevel", "runs compiled models: header, archive, CMake, pkg-config", """\
 The C API (ember.h), a C++17 wrapper (ember.hpp), a static archive,
 and what find_package(ember) and pkg-config need."""),
    "libember-jit": ("libs", "runs compiled models: kernels made while a model runs", """\
 Compiles hot parts of a model to machine code. The runtime finds and loads
 it when a session asks for it; LLVM works in a process beside it."""),
    "libember-compiler": ("libs", "compiles models to modules in a program: library and header", """\
 The C API of the compiler (ember_compiler.h): a model of any format as a
 file or bytes in, a module out. The header includes that of libember-dev."""),
    "libember-llm": ("libs", "generates text with language models in a program: library and header", """\
 The C API of language models (ember_llm.h): GGUF files, folders of Hugging
 Face and modules, tokenizers, chats. The header includes that of libember-dev."""),
    "ember-tools": ("utils", "compiles models (ONNX, TensorFlow, PyTorch, Core ML, ...) to modules, runs and measures them", """\
 vm-compile, vm-run, vm-bench, vm-dump, vm-diff, vm-generate, vm-prejit,
 vm-report, vm-sign, vm-tune."""),
    "python3-ember": ("python", "compiles and runs trained models: Python", """\
 ember.compile and ember.load, with NumPy, DLPack, estimators of scikit-learn
 and XGBoost, and an InferenceSession with the surface of ONNX Runtime."""),
}


def run(*command, **kwargs):
    """What the command prints; ends the program if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **kwargs)
    if done.returncode != 0:
        sys.exit("package.py: %s failed\n%s" % (" ".join(command), done.stderr or ""))
    return done.stdout


def install(source, target, mode=0o644, strip=None):
    """Copies a file; strip: the program that takes symbols which nobody needs out of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)
    if strip:
        run(strip, "--strip-unneeded", "--remove-section=.comment", str(target))


def link(target, name):
    name.parent.mkdir(parents=True, exist_ok=True)
    name.symlink_to(target)


def fill(template, target, values):
    text = (HERE / template).read_text()
    for key, value in values.items():
        text = text.replace("@%s@" % key, value)
    left = re.search("@[A-Z_]+@", text)
    if left:
        sys.exit("package.py: %s: no value for %s" % (template, left.group()))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


class Builder:
    def __init__(self, options):
        self.bin = Path(options.bin)
        self.out = Path(options.out)
        self.arch = options.arch
        self.native = options.arch == run("dpkg", "--print-architecture").strip()
        self.triple = TRIPLES[options.arch]
        self.version = (HERE / "VERSION").read_text().strip()
        self.binutils = "/usr/bin/%s-" % self.triple
        self.strip = self.binutils + "strip"

    def stage(self, package, root, lib):
        """Puts the files of a package below root; lib: where libraries go, from there."""
        ups = {
            "VERSION": self.version,
            # Paths from pkg-config's folder, and from the libraries' folder, up to the installation
            # prefix. Files with such paths work wherever the tree is installed.
            "UP": "/".join([".."] * (len(Path(lib).parts) + 1)),
            "UP_FROM_LIB": "/".join([".."] * len(Path(lib).parts)),
        }
        libraries = root / lib
        if package == "libember":
            built = "vm/api/libember.so" if self.native else "packaging/libember_%s.so" % BAZEL_NAMES[self.arch]
            install(self.bin / built, libraries / ("libember.so." + self.version), strip=self.strip)
            link("libember.so." + self.version, libraries / "libember.so.0")
            if self.native:
                install(self.bin / "vm/api/libember_strings.so", root / "lib/ember/libember_strings.so",
                        strip=self.strip)
        elif package == "libember-dev":
            for header in ["ember.h", "ember.hpp"]:
                install(ROOT / "vm/api" / header, root / "include/ember" / header)
            link("libember.so.0", libraries / "libember.so")
            # Object files for other machines are in gcc's intermediate form (-flto), which only the
            # same version of gcc can read. So the static archive is packaged for this machine only.
            if self.native:
                install(self.bin / "packaging/libember.a", libraries / "libember.a")
                run(self.strip, "--strip-debug", str(libraries / "libember.a"))
            fill("ember.pc.in", libraries / "pkgconfig/ember.pc", ups)
            for name in ["ember-config.cmake", "ember-config-version.cmake"]:
                fill(name + ".in", libraries / "cmake/ember" / name, ups)
        elif package == "libember-jit":
            install(self.bin / "jit/libember_jit.so", root / "lib/ember/libember_jit.so", strip=self.strip)
            install(self.bin / "jit/llvm/library/libember_llvm.so", root / "lib/ember/libember_llvm.so",
                    strip=self.strip)
            install(self.bin / "jit/worker/ember-compile-worker", root / "lib/ember/ember-compile-worker",
                    mode=0o755, strip=self.strip)
            install(ROOT / "jit/te_api/ember_te.h", root / "include/ember/ember_te.h")
        elif package in TOOL_LIBRARIES:
            folder, name, header = TOOL_LIBRARIES[package]
            install(self.bin / folder / name, libraries / (name + "." + self.version), strip=self.strip)
            link(name + "." + self.version, libraries / (name + ".0"))
            link(name + ".0", libraries / name)
            install(ROOT / folder / header, root / "include/ember" / header)
        elif package == "ember-tools":
            for tool in TOOLS:
                install(self.bin / "tools" / tool, root / "bin" / tool, mode=0o755, strip=self.strip)
                self.write_help(self.bin / "tools" / tool, root / "share")
        elif package == "python3-ember":
            python_package.stage_package(root, self.strip_file)
        self.write_copyright(package, root)

    def write_help(self, tool, share):
        """Writes the man page of a tool, and its completion for bash and zsh."""
        text = help_text.read_help(tool)
        man = share / "man/man1" / (tool.name + ".1.gz")
        completion = share / "bash-completion/completions" / tool.name
        # Debian's zsh looks for completion functions of packages in this folder.
        function = share / "zsh/vendor-completions" / ("_" + tool.name)
        for target in (man, completion, function):
            target.parent.mkdir(parents=True, exist_ok=True)
        man.write_bytes(gzip.compress(help_text.to_man(text, self.version).encode(), mtime=0))
        completion.write_text(help_text.to_bash(text))
        function.write_text(help_text.to_zsh(text))

    def write_copyright(self, package, root):
        """Writes the licences of what the package contains."""
        target = root / "share/doc" / package / "copyright"
        target.parent.mkdir(parents=True, exist_ok=True)
        # Cross builds link libstdc++ statically, so only their notices mention it.
        contained = python_package.CONTAINED if package == "python3-ember" else ()
        target.write_text(notices(LINKED[package], with_libstdcxx=not self.native, contained=contained))

    def strip_file(self, path):
        """Takes unneeded symbols out of a file."""
        run(self.strip, "--strip-unneeded", "--remove-section=.comment", str(path))

    def shared_library_depends(self, package, files):
        """What the package's files need of other packages, as a Debian relation."""
        if not files:
            return ""
        if self.native:
            # dpkg-shlibdeps reads the control file of the source package from the current folder.
            control = self.work / "debian/control"
            control.parent.mkdir(exist_ok=True)
            control.write_text("Source: ember\nPackage: %s\nArchitecture: any\n" % package)
            # The output of dpkg-shlibdeps on stderr is dropped: it warns of every file that is not
            # below debian/PACKAGE.
            text = run("dpkg-shlibdeps", "-O", *["-e" + str(f) for f in files], cwd=self.work, stderr=subprocess.PIPE)
            return text.split("=", 1)[1].strip()
        # Cross builds contain libstdc++, so they depend on libc alone. The version is that of the
        # newest libc symbol that they use.
        versions = set()
        for file in files:
            versions.update(re.findall(r"Name: GLIBC_(\d+)\.(\d+)", run(self.binutils + "readelf", "-V", str(file))))
        newest = max((int(a), int(b)) for a, b in versions)
        return "libc6 (>= %d.%d)" % newest

    def depends(self, package, root):
        exact = "(= %s)" % self.version
        files = [p for p in sorted(root.rglob("*")) if p.is_file() and not p.is_symlink() and
                 (".so" in p.name or os.access(p, os.X_OK))]
        # libre2 is only recommended, because few models use strings and all others run without it.
        optional = [p for p in files if p.name == "libember_strings.so"]
        fields = {"Depends": self.shared_library_depends(package, [p for p in files if p not in optional])}
        if optional:
            needed = set(fields["Depends"].split(", "))
            more = [d for d in self.shared_library_depends(package, optional).split(", ") if d not in needed]
            fields["Recommends"] = ", ".join(d for d in more if d.split()[0] not in {n.split()[0] for n in needed})
        mine = ["%s %s" % (name, exact) for name in OWN.get(package, [])]
        if package == "python3-ember":
            mine += python_package.DEPENDS
        fields["Depends"] = ", ".join(mine + [fields["Depends"]] if fields["Depends"] else mine)
        if package == "libember" and self.native:
            fields["Suggests"] = "libember-jit " + exact
        if package in TOOL_LIBRARIES:
            fields["Suggests"] = "libember-dev " + exact
        return fields

    def debian(self, package):
        root = self.work / package
        self.stage(package, root / "usr", "lib/" + self.triple)
        section, title, more = PACKAGES[package]
        fields = {
            "Package": package,
            "Version": self.version,
            "Architecture": self.arch,
            "Maintainer": MAINTAINER,
            "Section": section,
            "Priority": "optional",
            "Installed-Size": str(sum(p.lstat().st_size for p in root.rglob("*") if not p.is_dir()) // 1024 + 1),
        }
        fields.update(self.depends(package, root))
        control = "".join("%s: %s\n" % field for field in fields.items()) + "Description: %s\n%s\n" % (title, more)
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN/control").write_text(control)
        if package in SONAMES:
            # Debian runs ldconfig when a package with this trigger is installed, which every
            # package with libraries needs.
            (root / "DEBIAN/triggers").write_text("activate-noawait ldconfig\n")
            (root / "DEBIAN/shlibs").write_text("%s 0 %s (>= %s)\n" % (SONAMES[package], package, self.version))
        if package == "python3-ember":
            python_package.write_scripts(root / "DEBIAN")
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        target = self.out / ("%s_%s_%s.deb" % (package, self.version, self.arch))
        run("dpkg-deb", "--root-owner-group", "-Zxz", "-z2", "--build", str(root), str(target))
        return target

    def tar(self, packages):
        name = "ember-%s-linux-%s" % (self.version, self.arch)
        for package in packages:
            self.stage(package, self.work / name, "lib")
        target = self.out / (name + ".tar.gz")

        # Clears owners and times, so that the archive is the same on every machine and day.
        def plain(info):
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = "root"
            return info

        with open(target, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            with tarfile.open(fileobj=packed, mode="w") as tar:
                for path in [self.work / name, *sorted((self.work / name).rglob("*"))]:
                    tar.add(path, str(path.relative_to(self.work)), recursive=False, filter=plain)
        return target

    def wheel(self):
        targets = IN_WHEEL if self.native else LINKED["libember"]
        text = notices(targets, with_libstdcxx=not self.native, contained=python_package.CONTAINED)

        def copy(source, target):
            install(source, target, strip=self.strip)

        if self.native:
            return python_package.make_wheel(self.bin, self.triple, self.work, self.out, copy, text)
        library = self.bin / ("packaging/libember_%s.so" % BAZEL_NAMES[self.arch])
        return python_package.make_cross_wheel(library, self.triple, self.work, self.out, copy, text)

    def build(self):
        self.out.mkdir(parents=True, exist_ok=True)
        self.work = self.out / ("work-" + self.arch)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        packages = list(PACKAGES) if self.native else ["libember", "libember-dev"]
        made = [self.debian(package) for package in packages]
        made.append(self.tar([package for package in packages if package != "python3-ember"]))
        # Python's headers are those of this machine, which serve for machines with the same sizes of C's types.
        if self.native or self.arch == "arm64":
            made.append(self.wheel())
        shutil.rmtree(self.work)
        for path in made:
            print("%10d  %s" % (path.stat().st_size, path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--arch", choices=sorted(TRIPLES), default=run("dpkg", "--print-architecture").strip())
    options = parser.parse_args()
    options.bin, options.out = os.path.abspath(options.bin), os.path.abspath(options.out)
    Builder(options).build()


main()
