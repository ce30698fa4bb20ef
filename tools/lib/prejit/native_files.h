// Writes kernels to files of their own: shared objects, object files or C files
// with a header, and overlays.
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
  kShared,  // a shared object, for dlopen or a linker
  kStatic,  // an object file and its C header
  kC,       // a C file and its header
};

struct LibraryOptions {
  LibraryKind kind = LibraryKind::kShared;
  // The platform whose files are written: one of PlatformNames. Platforms other
  // than "elf" require kStatic.
  std::string platform = "elf";
  // Name of the table's symbol. Empty: "ember_kernels" in shared objects, and
  // "ember_kernels_" with the file's name in other files, as a program may link
  // several of these.
  std::string symbol;
};

// Returns the names of platforms: "elf", "ios", "ios-simulator", "macos".
std::vector<std::string> PlatformNames();

// Checks what WriteNativeLibrary will be asked for, before kernels are made.
// Errors: targets of several kinds of processor, a platform that has no such
// processor, a symbol that C does not take. targets: base/target_text.h.
Status CheckNativeLibrary(std::span<const std::string_view> targets,
                          const LibraryOptions& options);

// Prints what it wrote. Errors: those of CheckNativeLibrary; no kernels at all.
// kC: of one section, which is of target c11.
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
