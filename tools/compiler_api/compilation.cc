// Implements the functions that read a compilation.
#include "tools/compiler_api/compilation.h"

#include <cstdlib>
#include <cstring>

#include "base/rounding.h"
#include "vm/format/writer.h"

namespace ember::compiler_api {
namespace {

// Alignment in bytes of the module that CompilationModule returns. With this
// alignment module_load_memory uses the bytes without a copy.
constexpr size_t kAlignment = 64;

Status NullError(const char* function) {
  return InvalidArgumentError(std::string(function) +
                              ": expected pointers, found NULL");
}

Status CheckHasModule(const EmberCompilation& compilation) {
  if (compilation.module) return OkStatus();
  return FailedPreconditionError(
      compilation.file +
      ": expected a module, found a compilation that failed");
}

// Makes the bytes of the module on the first call. The caller must hold the
// compilation's mutex.
Status MakeBytes(EmberCompilation& compilation) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes,
                         vm::SerializeModule(*compilation.module));
  const size_t size = RoundUp(bytes.size(), kAlignment);
  void* const memory = std::aligned_alloc(kAlignment, size);
  if (memory == nullptr) {
    return ResourceExhaustedError("module: expected " + std::to_string(size) +
                                  " bytes of memory, found none");
  }
  std::memcpy(memory, bytes.data(), bytes.size());
  compilation.bytes.reset(memory);
  compilation.byte_count = bytes.size();
  return OkStatus();
}

}  // namespace

void FreeBytes::operator()(void* bytes) const { std::free(bytes); }

void CompilationRelease(EmberCompilation* compilation) { delete compilation; }

EmberStatus CompilationModule(EmberCompilation* compilation, const void** data,
                              size_t* size) {
  return Guarded([&]() -> Status {
    if (compilation == nullptr || data == nullptr || size == nullptr)
      return NullError("compilation_module");
    *data = nullptr;
    *size = 0;
    EMBER_RETURN_IF_ERROR(CheckHasModule(*compilation));
    const std::lock_guard<std::mutex> lock(compilation->mutex);
    if (compilation->bytes == nullptr)
      EMBER_RETURN_IF_ERROR(MakeBytes(*compilation));
    *data = compilation->bytes.get();
    *size = compilation->byte_count;
    return OkStatus();
  });
}

EmberStatus CompilationWrite(EmberCompilation* compilation, const char* path) {
  return Guarded([&]() -> Status {
    if (compilation == nullptr || path == nullptr)
      return NullError("compilation_write");
    EMBER_RETURN_IF_ERROR(CheckHasModule(*compilation));
    return vm::WriteModule(*compilation->module, path);
  });
}

int32_t CompilationDiagnosticCount(const EmberCompilation* compilation) {
  return compilation == nullptr
             ? 0
             : static_cast<int32_t>(compilation->diagnostics.size());
}

EmberStatus CompilationDiagnostic(const EmberCompilation* compilation,
                                  int32_t index, EmberDiagnostic* diagnostic) {
  return Guarded([&]() -> Status {
    if (compilation == nullptr || diagnostic == nullptr)
      return NullError("compilation_diagnostic");
    const auto& all = compilation->diagnostics;
    if (index < 0 || static_cast<size_t>(index) >= all.size()) {
      return NotFoundError("diagnostic: expected an index below " +
                           std::to_string(all.size()) + ", found " +
                           std::to_string(index));
    }
    const Diagnostic& found = all[static_cast<size_t>(index)];
    const EmberDiagnostic made = {sizeof(made),
                                  found.severity,
                                  static_cast<EmberStatus>(found.code),
                                  found.message.c_str(),
                                  compilation->file.c_str(),
                                  found.stage.c_str(),
                                  found.step.c_str(),
                                  found.node.c_str()};
    Fill(&made, sizeof(made), diagnostic);
    return OkStatus();
  });
}

}  // namespace ember::compiler_api
