// The objects behind the handles of the compiler's C API, and the functions
// that its table has.
//
// The functions of the table take and return the C types of the global
// namespace, but their bodies are C++. Those that return an EmberStatus do
// their work in Guarded, so that no exception leaves the library; the others
// throw nothing.
#ifndef EMBER_TOOLS_COMPILER_API_COMPILATION_H_
#define EMBER_TOOLS_COMPILER_API_COMPILATION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/compiler_api/ember_compiler.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler_api {

struct Diagnostic {
  EmberSeverity severity = EMBER_NOTE;
  StatusCode code = StatusCode::kOk;
  std::string message, stage, step, node;
};

struct FreeBytes {
  void operator()(void* bytes) const;
};

}  // namespace ember::compiler_api

struct EmberCancelToken {
  std::atomic<bool> is_cancelled{false};
};

struct EmberCompilation {
  // These fields are constant once compile has returned.
  std::string file;
  std::vector<ember::compiler_api::Diagnostic> diagnostics;
  std::optional<ember::vm::ModuleDefinition> module;

  std::mutex mutex;  // guards `bytes` and byte_count
  std::unique_ptr<void, ember::compiler_api::FreeBytes> bytes;
  size_t byte_count = 0;
};

namespace ember::compiler_api {

// Stores the status's message as the calling thread's error_message() and
// returns its code. If there is no memory for the message, a fixed text is
// used.
EmberStatus Report(const Status& status) noexcept;
// Stores a fixed text as the calling thread's error_message(), without
// allocating memory. The text must live until the process ends.
EmberStatus ReportText(EmberStatus status, const char* text) noexcept;

// Runs `work`, which returns a Status, and reports that as the call's error.
// Exceptions of libraries (protobuf, JSON, filesystem) and of operator new
// become errors, too.
template <typename Work>
EmberStatus Guarded(const Work& work) noexcept {
  try {
    return Report(work());
  } catch (const std::bad_alloc&) {
    return ReportText(EMBER_RESOURCE_EXHAUSTED,
                      "expected memory for the compiler, found none");
  } catch (const std::exception& error) {
    try {
      return Report(InternalError(error.what()));
    } catch (...) {
      return ReportText(EMBER_INTERNAL, "an exception without a message");
    }
  } catch (...) {
    return ReportText(EMBER_INTERNAL, "an exception of an unknown type");
  }
}

// The functions that api.cc defines.
const char* ErrorMessage();
EmberStatus FormatInfo(int32_t index, EmberFormatInfo* info);
EmberStatus CancelTokenCreate(EmberCancelToken** token);
void CancelTokenCancel(EmberCancelToken* token);
void CancelTokenRelease(EmberCancelToken* token);

// The function that compile.cc defines.
EmberStatus Compile(const EmberCompileOptions* options,
                    EmberCompilation** compilation);

// The functions that compilation.cc defines.
void CompilationRelease(EmberCompilation* compilation);
EmberStatus CompilationModule(EmberCompilation* compilation, const void** data,
                              size_t* size);
EmberStatus CompilationWrite(EmberCompilation* compilation, const char* path);
int32_t CompilationDiagnosticCount(const EmberCompilation* compilation);
EmberStatus CompilationDiagnostic(const EmberCompilation* compilation,
                                  int32_t index, EmberDiagnostic* diagnostic);

// Copies the fields that fit into the caller's struct, whose size is its first
// field, struct_size. That field itself is not changed.
void Fill(const void* from, size_t size, void* to);

}  // namespace ember::compiler_api

#endif  // EMBER_TOOLS_COMPILER_API_COMPILATION_H_
