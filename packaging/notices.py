"""Writes the licences of what packages contain: Ember's own and those of libraries linked into its binaries.

  notices.py TARGET...      prints the text; package.py puts it into each package

Bazel is asked which outside repositories the targets link, so no list has to be kept. A repository that is
missing in LIBRARIES is an error: add the Debian package whose copyright file holds its licence. The page of vm-report
contains packages of npm, whose licences are in the folder that ./dev setup --for=report makes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# For each external repository of third_party/system/repos.bzl: the Debian packages whose code the
# linker copies into a binary. The list is empty if no code is copied.
LIBRARIES = {
    "abseil": ["libabsl-dev"],
    "flatbuffers": ["libflatbuffers-dev"],
    "jpeg": ["libjpeg62-turbo-dev"],
    # LLVM is linked as a shared library, on which the package depends, so no code is copied.
    "llvm": [],
    "nlohmann_json": ["nlohmann-json3-dev"],
    "openjpeg": ["libopenjp2-7-dev"],
    "pcre2": ["libpcre2-dev"],
    "png": ["libpng-dev"],
    "protobuf": ["libprotobuf-dev"],
    "re2": ["libre2-dev"],
    "snappy": ["libsnappy-dev"],
    "sodium": ["libsodium-dev"],
    "sqlite": ["libsqlite3-dev"],
    "tiff": ["libtiff-dev", "liblerc-dev", "libdeflate-dev", "libjbig-dev", "liblzma-dev", "libzstd-dev"],
    "utf8proc": ["libutf8proc-dev"],
    "vulkan": ["libvulkan-dev", "spirv-tools", "spirv-headers"],
    "webp": ["libwebp-dev"],
    "zlib": ["zlib1g-dev"],
}

# The Bazel label of the JavaScript libraries that the page of vm-report contains, and the folder in
# which npm installed them.
PAGE_LIBRARIES = "@report_page//:libraries"
PAGE_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "ember/report-page"
# Names of files with the licence of a package of npm.
LICENCE_FILES = ("LICENSE*", "LICENCE*", "license*", "COPYING*", "UNLICENSE*")

# The Debian package whose copyright file covers libstdc++: Debian names the copyright file of some
# source packages after another binary package.
RUNTIME_OF_CROSS_BUILDS = "libstdc++-12-dev"


def query(text):
    """Returns the labels that Bazel finds."""
    done = subprocess.run(["bazel", "query", "--noshow_progress", "--noimplicit_deps", "--nohost_deps", text],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit("notices.py: bazel query failed\n" + done.stderr)
    return done.stdout.split()


def linked_repositories(targets):
    """Returns the names of the outside repositories whose libraries the targets link."""
    labels = query('kind("cc_library", deps(%s))' % " + ".join(targets))
    return sorted({label[1:].split("//")[0] for label in labels if label.startswith("@")} - {""})


def has_page_libraries(targets):
    """True if one of the targets contains the page of vm-report."""
    return PAGE_LIBRARIES in query('filter("^@report_page//", deps(%s))' % " + ".join(targets))


def npm_licences(folder=PAGE_FOLDER):
    """Returns a text for each package of the folder's lock file: its name, its licence and the licence's text."""
    lock = folder / "package-lock.json"
    if not lock.exists():
        sys.exit("notices.py: %s is missing; ./dev setup --for=report makes it" % lock)
    texts = []
    for path in sorted(json.loads(lock.read_text())["packages"]):
        if not path:
            continue
        package = json.loads((folder / path / "package.json").read_text())
        files = [file for name in LICENCE_FILES for file in sorted((folder / path).glob(name))]
        if not files and not package.get("license"):
            sys.exit("notices.py: %s: expected a licence, found none" % (folder / path))
        texts.append("The page of vm-report contains code of npm's package %s %s, licence %s.\n\n%s" %
                     (package["name"], package["version"], package.get("license", "as below"),
                      files[0].read_text(encoding="utf-8", errors="replace") if files else ""))
    return texts


def debian_copyright(package):
    path = Path("/usr/share/doc") / package / "copyright"
    if not path.exists():
        sys.exit("notices.py: %s is missing; ./dev setup installs %s" % (path, package))
    return path.read_text(encoding="utf-8", errors="replace")


def notices(targets, with_libstdcxx=False, contained=()):
    """Returns the text for the targets.

    with_libstdcxx: libstdc++ is linked into them, as in cross builds. contained: further Debian packages whose code
    is in the files.
    """
    packages = []
    for repository in linked_repositories(targets) if targets else []:
        if repository not in LIBRARIES:
            sys.exit("notices.py: %s: name the Debian package that holds the licence of @%s in LIBRARIES" %
                     (__file__, repository))
        packages += LIBRARIES[repository]
    packages += contained
    if with_libstdcxx:
        packages.append(RUNTIME_OF_CROSS_BUILDS)
    parts = [(ROOT / "NOTICE").read_text(), (ROOT / "LICENSE").read_text()]
    for package in packages:
        parts.append("%s\nThe binaries contain code of Debian's package %s.\n\n%s" %
                     ("=" * 79, package, debian_copyright(package)))
    if targets and has_page_libraries(targets):
        parts += ["%s\n%s" % ("=" * 79, text) for text in npm_licences()]
    return "\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(notices(sys.argv[1:]))
