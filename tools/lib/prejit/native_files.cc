#include "tools/lib/prejit/native_files.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/target_text.h"
#include "jit/llvm/all_targets.h"
#include "jit/llvm/objects/object_file.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/prejit/c_file.h"
#include "vm/format/module_identity.h"
#include "vm/format/native_library.h"
#include "vm/format/overlay.h"
#include "vm/format/shared_object.h"

namespace ember::tools {
namespace {

// A kind of processor, with its name in target texts and with the values that
// identify it in object files: an ELF machine, or a triple for each platform.
// The triple is null if the platform has no such processor.
struct Processor {
  std::string_view name;
  vm::ElfMachine machine;
  // LLVM's target triple for each platform, in the order of kPlatforms.
  const char* triples[4];
};
constexpr const char* kPlatforms[] = {"elf", "ios", "ios-simulator", "macos"};
constexpr Processor kProcessors[] = {
    {"x86_64-linux",
     vm::ElfMachine::kX86_64,
     {"x86_64-linux-gnu", nullptr, "x86_64-apple-ios13.0-simulator",
      "x86_64-apple-macos11.0"}},
    {"aarch64-linux",
     vm::ElfMachine::kAarch64,
     {"aarch64-linux-gnu", "arm64-apple-ios13.0",
      "arm64-apple-ios14.0-simulator", "arm64-apple-macos11.0"}},
    {"armv7-linux",
     vm::ElfMachine::kArm,
     {"armv7-linux-gnueabihf", nullptr, nullptr, nullptr}},
};

StatusOr<const Processor*> ProcessorOf(
    std::span<const std::string_view> targets) {
  const Processor* processor = nullptr;
  for (const std::string_view target : targets) {
    const std::string_view name = TargetText(target).name();
    if (processor != nullptr && processor->name != name) {
      return CommandLineError(
          "--emit: expected targets of one kind of processor in a file, "
          "found " +
          std::string(processor->name) + " and " + std::string(name));
    }
    for (const Processor& known : kProcessors) {
      if (known.name == name) processor = &known;
    }
    if (processor == nullptr) {
      return CommandLineError("--emit: there are no object files for " +
                              std::string(name));
    }
  }
  return processor;
}

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns the path with its ending `ending` (if it has it) replaced by `other`.
std::string WithEnding(std::string path, std::string_view ending,
                       std::string_view other) {
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path + std::string(other);
}

// Returns the symbol of the kernels' table in a file: "ember_kernels_my_model"
// for "my-model.o".
std::string SymbolOf(std::string_view path, std::string_view ending) {
  std::string name = WithEnding(std::string(FileName(path)), ending, "");
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return "ember_kernels_" + name;
}

Status CheckSymbol(const std::string& symbol) {
  const bool is_name =
      !symbol.empty() &&
      std::isdigit(static_cast<unsigned char>(symbol[0])) == 0 &&
      std::ranges::all_of(symbol, [](char c) {
        return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
      });
  if (is_name) return OkStatus();
  return CommandLineError("--symbol: expected a name of C, found '" + symbol +
                          "'");
}

std::string HeaderText(const std::string& symbol, std::string_view object,
                       const vm::ModuleDefinition& module,
                       const std::vector<Prejitted>& sections) {
  std::string guard = symbol + "_H_";
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  std::string targets;
  for (const Prejitted& section : sections)
    targets += "\n *   " + section.target;
  return "/* Kernels of one model, in " + std::string(object) +
         ", for:" + targets + "\n *\n * They are of the module " +
         vm::IdentityText(vm::IdentityOf(module)) +
         ", and of no other. Written by vm-prejit.\n *\n *   "
         "ember->module_load_"
         "file(\"model.vmfb\", &module);\n *   "
         "ember->module_add_kernels(module, "
         "&" +
         symbol + ");\n */\n#ifndef " + guard + "\n#define " + guard +
         "\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
         "struct EmberKernels; /* of ember.h, since version 5 */\n"
         "extern const struct EmberKernels " +
         symbol + ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

// Writes the library file, and beside it the header that declares the table's
// symbol.
Status WriteWithHeader(const std::string& contents, std::string_view ending,
                       const std::string& symbol,
                       const vm::ModuleDefinition& module,
                       const std::vector<Prejitted>& sections,
                       const std::string& path) {
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(UserPath(path), contents));
  const std::string header = WithEnding(path, ending, ".h");
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      UserPath(header), HeaderText(symbol, FileName(path), module, sections)));
  std::printf("%s: %zu bytes; %s declares %s\n", path.c_str(), contents.size(),
              header.c_str(), symbol.c_str());
  return OkStatus();
}

std::string SymbolIn(const std::string& path, const LibraryOptions& options) {
  if (!options.symbol.empty()) return options.symbol;
  if (options.kind == LibraryKind::kShared) return "ember_kernels";
  return SymbolOf(path, options.kind == LibraryKind::kC ? ".c" : ".o");
}

// The processor for which an object file is made: its machine in ELF files, its
// triple in files of other formats.
struct ObjectKind {
  vm::ElfMachine machine = vm::ElfMachine::kX86_64;
  const char* triple = nullptr;
};

StatusOr<ObjectKind> ObjectKindOf(std::span<const std::string_view> targets,
                                  const LibraryOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const Processor* processor, ProcessorOf(targets));
  const auto platform = static_cast<size_t>(
      std::ranges::find(kPlatforms, options.platform) - kPlatforms);
  if (options.kind == LibraryKind::kShared && platform != 0) {
    return CommandLineError(
        "--emit=shared: expected --platform=elf, found " + options.platform +
        " (link what --emit=static writes into a library there)");
  }
  const char* const triple = processor->triples[platform];
  if (triple == nullptr) {
    return CommandLineError("--platform=" + options.platform +
                            ": expected a processor that it has, found " +
                            std::string(processor->name));
  }
  return ObjectKind{processor->machine, triple};
}

Status NoKernels() {
  return InvalidArgumentError(
      "expected kernels to write, found none (--verbose says why)");
}

Status WriteC(const vm::ModuleDefinition& module,
              const std::vector<Prejitted>& sections,
              const LibraryOptions& options, const std::string& path) {
  EMBER_CHECK(sections.size() == 1) << "a C file has one target";
  if (sections[0].kernels == 0) return NoKernels();
  const std::string symbol = SymbolIn(path, options);
  return WriteWithHeader(CFileText(vm::IdentityOf(module), sections[0], symbol),
                         ".c", symbol, module, sections, path);
}

}  // namespace

std::vector<std::string> PlatformNames() {
  return {std::begin(kPlatforms), std::end(kPlatforms)};
}

Status CheckNativeLibrary(std::span<const std::string_view> targets,
                          const LibraryOptions& options) {
  if (!options.symbol.empty())
    EMBER_RETURN_IF_ERROR(CheckSymbol(options.symbol));
  if (options.kind == LibraryKind::kC) return OkStatus();
  return ObjectKindOf(targets, options).status();
}

Status WriteNativeLibrary(const vm::ModuleDefinition& module,
                          const std::vector<Prejitted>& sections,
                          const LibraryOptions& options,
                          const std::string& path) {
  std::vector<std::string_view> targets;
  for (const Prejitted& section : sections) targets.push_back(section.target);
  EMBER_RETURN_IF_ERROR(CheckNativeLibrary(targets, options));
  if (options.kind == LibraryKind::kC)
    return WriteC(module, sections, options, path);
  EMBER_ASSIGN_OR_RETURN(const ObjectKind kind, ObjectKindOf(targets, options));
  std::vector<vm::NativeLibrarySection> parts;
  for (const Prejitted& section : sections) {
    if (section.kernels == 0) continue;
    parts.push_back(
        {section.target, section.bytes.parts(), section.bytes.code_alignment});
  }
  if (parts.empty()) return NoKernels();
  const std::string symbol = SymbolIn(path, options);
  const vm::NativeLibrary library =
      vm::LayOutNativeLibrary(vm::IdentityOf(module), parts);
  if (options.kind == LibraryKind::kStatic) {
    jit::llvm_ir::UseAllTargets();
    EMBER_ASSIGN_OR_RETURN(
        const std::string object,
        jit::llvm_ir::WriteObjectFile(library, kind.triple, symbol));
    return WriteWithHeader(object, ".o", symbol, module, sections, path);
  }
  EMBER_RETURN_IF_ERROR(
      vm::WriteSharedObject(library,
                            {.machine = kind.machine,
                             .symbol = symbol,
                             .name = std::string(FileName(path))},
                            UserPath(path)));
  std::printf("%s: exports %s\n", path.c_str(), symbol.c_str());
  return OkStatus();
}

std::string OverlayPath(const std::string& module_path,
                        const std::string& target_name) {
  return WithEnding(module_path, ".vmfb", "." + target_name) +
         std::string(vm::kOverlayEnding);
}

Status WriteOverlay(const vm::ModuleDefinition& module, Prejitted made,
                    const std::string& path) {
  vm::Overlay overlay;
  overlay.module = vm::IdentityOf(module);
  overlay.section = SectionOf(std::move(made));
  const std::string file = vm::SerializeOverlay(overlay);
  EMBER_RETURN_IF_ERROR(WriteUserFile(path, file));
  std::printf("%s: %zu bytes\n", path.c_str(), file.size());
  return OkStatus();
}

}  // namespace ember::tools
