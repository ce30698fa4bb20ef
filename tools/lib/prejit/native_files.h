// Writes kernels to files beside the module: shared objects, object files or C
// files with a header, and overlays (files of kernels for one target).
//
//   EMBER_RETURN_IF_ERROR(WriteNativeLibrary(
//       *module, sections, {.kind = LibraryKind::kShared}, "libmodel.so"));
//
// Depends on LLVM. Paths are as the user typed them. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_NATIVE_FILES_H_
#define EMBER_TOOLS_LIB_PREJIT_NATIVE_FILES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/prejit/prejit.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

enum class LibraryKind {
  kShared,  // A shared object that a program loads with dlopen or links.
  kStatic,  // An object file, with a C header that declares its table.
  kC,       // A C source file, with a C header that declares its table.
};

struct LibraryOptions {
  LibraryKind kind = LibraryKind::kShared;
  // The platform for which files are written: one of PlatformNames(). Platforms
  // other than "elf" allow kStatic only.
  std::string platform = "elf";
  // Name of the table's symbol. If it is empty, the name is "ember_kernels" in
  // shared objects. In other files it is "ember_kernels_" with the file's name,
  // because a program may link several of these files.
  std::string symbol;
};

// Returns the names of platforms: "elf", "ios", "ios-simulator", "macos".
std::vector<std::string> PlatformNames();

// Checks everything that WriteNativeLibrary checks, before kernels are made.
// Errors: targets of different kinds of processor; the platform does not exist
// for the processor; the symbol is no C identifier. `targets` are texts as in
// base/target_text.h.
Status CheckNativeLibrary(std::span<const std::string_view> targets,
                          const LibraryOptions& options);

// Writes the library and prints the names of the files to stdout. Errors: those
// of CheckNativeLibrary; there are no kernels. kC requires exactly one section,
// of target c11.
Status WriteNativeLibrary(const vm::ModuleDefinition& module,
                          const std::vector<Prejitted>& sections,
                          const LibraryOptions& options,
                          const std::string& path);

// Returns the path of a target's overlay, in the folder of the module:
// "model.vmfb", "x86-64-v4+vnni" give "model.x86-64-v4+vnni.vmfb-overlay".
std::string OverlayPath(const std::string& module_path,
                        const std::string& target_name);
Status WriteOverlay(const vm::ModuleDefinition& module, Prejitted made,
                    const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_NATIVE_FILES_H_
