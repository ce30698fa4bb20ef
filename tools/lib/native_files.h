// Kernels in files of their own: shared objects, object files and files of C
// with a header, overlays.
//
//   EMBER_RETURN_IF_ERROR(WriteNativeLibrary(
//       *module, sections, {.kind = LibraryKind::kShared}, "libmodel.so"));
//
// Links LLVM. Paths are as the user typed them. Thread-safe.
#ifndef EMBER_TOOLS_LIB_NATIVE_FILES_H_
#define EMBER_TOOLS_LIB_NATIVE_FILES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/prejit.h"
#include "vm/format/module_definition.h"

namespace ember::tools {

enum class LibraryKind {
  kShared,  // a shared object, for dlopen or a linker
  kStatic,  // an object file, and a C header beside it
  kC,       // a file of C, and a header beside it
};

struct LibraryOptions {
  LibraryKind kind = LibraryKind::kShared;
  // Whose files: one of PlatformNames. Others than "elf" for kStatic only.
  std::string platform = "elf";
  // Of the table; empty: "ember_kernels" in shared objects, and
  // "ember_kernels_" with the file's name in others, of which a program may
  // have several.
  std::string symbol;
};

// "elf", "ios", "ios-simulator", "macos".
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

// Where the overlay of a target belongs, beside the module: "model.vmfb",
// "x86-64-v4+vnni": "model.x86-64-v4+vnni.vmfb-overlay".
std::string OverlayPath(const std::string& module_path,
                        const std::string& target_name);
Status WriteOverlay(const vm::ModuleDefinition& module, Prejitted made,
                    const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_NATIVE_FILES_H_
