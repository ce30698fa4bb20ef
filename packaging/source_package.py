"""Writes the runtime's sources as a CMake project for compilers that Bazel does not drive here: Android's NDK, Xcode.

  source_package.py --bin=BAZEL_BIN --out=DIR        ./dev package --sources calls it

DIR/ember-runtime-VERSION.tar.gz has one folder, ember-runtime: the C API with the host's interpreter (what libember.a
is made of), the smallest runtime beside it, flatbuffers' headers, and a CMakeLists.txt. It needs CMake and a compiler
for C++20, nothing else:

  add_subdirectory(ember-runtime)
  target_link_libraries(app ember::ember_static)      # or ember::ember_smallest

Which files there are, and which flags each needs, is asked of Bazel, so that nobody keeps a second list.
"""

import argparse
import json
import shutil
import subprocess
import tarfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# For each library: its name in the CMake project, and its Bazel target.
LIBRARIES = {"ember_static": "//vm/api:ember", "ember_smallest": "//vm/api:ember_smallest"}

CMAKE = """\
# The runtime's C API and its interpreter, as one archive. Written by packaging/source_package.py: not to be edited.
#
#   add_subdirectory(ember-runtime)
#   target_link_libraries(app ember::ember_static)      # then: #include <ember.h>
#
# Instead: ember::ember_smallest, for programs that bring kernels and where every byte counts (docs/embedding.md, "The
# smallest one"). A program links one of the two; what only the smallest has is compiled where it is linked.
cmake_minimum_required(VERSION 3.16)
project(ember_runtime VERSION @VERSION@ LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(Threads REQUIRED)

add_library(ember_static STATIC)
add_library(ember_smallest STATIC EXCLUDE_FROM_ALL)
foreach(library ember_static ember_smallest)
  add_library(ember::${library} ALIAS ${library})
  target_include_directories(${library} INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/include)
  target_link_libraries(${library} PRIVATE Threads::Threads)
endforeach()

# Files of the libraries IN that are compiled alike; some are compiled several times, for several instruction sets.
function(ember_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 part "" "" "IN;SOURCES;DEFINES;OPTIONS")
  set(when EXCLUDE_FROM_ALL)
  if("ember_static" IN_LIST part_IN)
    set(when "")
  endif()
  add_library(${name} OBJECT ${when} ${part_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/third_party)
  target_compile_definitions(${name} PRIVATE ${part_DEFINES})
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections ${part_OPTIONS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
  foreach(library ${part_IN})
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${name}>)
  endforeach()
endfunction()

set(EMBER_X86 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT CMAKE_OSX_ARCHITECTURES MATCHES "arm64")
  set(EMBER_X86 ON)
endif()

"""


def bazel(*args):
    return subprocess.run(["bazel", *args], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout.decode()


def compilations():
    """Yields (library, source, defines, options) of each compilation: what is its own, not every file's."""
    actions = []
    for library, target in LIBRARIES.items():
        graph = json.loads(bazel("aquery", "--ui_event_filters=-info", "--noshow_progress", "--output=jsonproto",
                                 'mnemonic("CppCompile", deps(%s))' % target))
        actions += [(library, a["arguments"]) for a in graph["actions"] if "-c" in a["arguments"]]

    def flags_of(arguments):
        return [a for a in arguments if a.startswith(("-D", "-m", "-f", "-O", "-W"))]

    everywhere = set(flags_of(actions[0][1])).intersection(*(flags_of(a) for _, a in actions))
    for library, arguments in actions:
        own = [a for a in flags_of(arguments) if a not in everywhere and not a.startswith("-frandom-seed")]
        defines = [a[2:].replace('\\"', '"') for a in own if a.startswith("-D")]
        options = [a for a in own if not a.startswith(("-D", "-fno-exceptions", "-fno-rtti"))]
        yield library, arguments[arguments.index("-c") + 1], tuple(defines), tuple(options)


def quoted(values):
    return " ".join('"%s"' % v.replace("\\", "\\\\").replace('"', '\\"') for v in values)


def objects(number, libraries, sources, defines, options):
    lines = ["ember_objects(ember_%d" % number, "  IN " + " ".join(libraries)]
    if defines:
        lines.append("  DEFINES " + quoted(defines))
    if options:
        lines.append("  OPTIONS " + quoted(options))
    return "\n".join(lines + ["  SOURCES", *("    " + s for s in sorted(sources))]) + ")\n"


def cmake_lists(version):
    libraries_of = defaultdict(set)
    for library, *compilation in compilations():
        libraries_of[tuple(compilation)].add(library)
    groups = defaultdict(set)
    for (source, defines, options), libraries in libraries_of.items():
        groups[defines, options, tuple(sorted(libraries))].add(source)
    text = CMAKE.replace("@VERSION@", version)
    number = 0
    for (defines, options, libraries), sources in sorted(groups.items()):
        number += 1
        # Files with vector instructions of x86 are compiled only for x86. Other processors use the
        # baseline versions.
        vectors = any(o.startswith("-m") for o in options)
        block = objects(number, libraries, sources, defines, options)
        if vectors:
            block = "if(EMBER_X86)\n" + block + "endif()\n"
        elif any("X86" in d for d in defines):
            # Sources with a define for x86 choose between vector and baseline code at run time. For
            # other processors they are compiled without these defines.
            rest = objects(number, libraries, sources, [d for d in defines if "X86" not in d], options)
            block = "if(EMBER_X86)\n" + block + "else()\n" + rest + "endif()\n"
        text += block + "\n"
    return text, {s for sources in groups.values() for s in sources}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    version = (HERE / "VERSION").read_text().strip()
    out = Path(options.out)
    folder = out / "ember-runtime"
    shutil.rmtree(folder, ignore_errors=True)

    def put(source, name):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
        (folder / name).chmod(0o644)

    text, sources = cmake_lists(version)
    headers = bazel("query", "--noshow_progress",
                    'kind("source file", deps(%s))' % " + ".join(LIBRARIES.values())).split()
    files = {h[2:].replace(":", "/") for h in headers if h.startswith("//") and h.endswith(".h")}
    for name in sorted(files | sources):
        put(ROOT / name, name)
    put(Path(options.bin) / "vm/format/module_generated.h", "vm/format/module_generated.h")
    for header in Path("/usr/include/flatbuffers").glob("*.h"):
        put(header, "third_party/flatbuffers/" + header.name)
    for name in ["LICENSE", "NOTICE"]:
        put(ROOT / name, name)
    put("/usr/share/doc/libflatbuffers-dev/copyright", "third_party/flatbuffers/copyright")
    for header in ["ember.h", "ember.hpp"]:
        put(ROOT / "vm/api" / header, "include/" + header)
    (folder / "CMakeLists.txt").write_text(text)

    target = out / ("ember-runtime-%s.tar.gz" % version)
    with tarfile.open(target, "w:gz") as tar:
        tar.add(folder, folder.name)
    shutil.rmtree(folder)
    print("%10d  %s" % (target.stat().st_size, target))


main()
