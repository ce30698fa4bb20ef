// Implements code memory for WebAssembly. The code of a kernel is a module of
// its own (jit/llvm/objects/wasm_module.h). The page instantiates it with the
// memory of the runtime and puts its functions into the table of the runtime,
// where function pointers are indices.
#include <string>

#include "base/concat.h"
#include "vm/runtime/memory/code_memory.h"

extern "C" {

// Returns the index in the function table of the first of `count` functions of
// the WebAssembly module in `bytes`, or 0 if the page has not compiled the
// module yet.
__attribute__((import_module("ember_host"), import_name("load_code"))) int32_t
ember_host_load_code(const uint8_t* bytes, size_t size, size_t count);
// Removes `count` functions from the function table, from the index `first` on.
__attribute__((import_module("ember_host"), import_name("free_code"))) void
ember_host_free_code(int32_t first, size_t count);

}  // extern "C"

namespace ember::vm {

StatusOr<std::shared_ptr<const CodeMemory>> CodeMemory::Load(
    std::span<const KernelCode* const> codes) {
  // offsets_ gets two parts: for each code the table index of its first
  // function, then for each code its number of functions.
  std::shared_ptr<CodeMemory> memory(new CodeMemory());
  size_t missing = 0;
  for (const KernelCode* code : codes) {
    const int32_t first = ember_host_load_code(
        code->bytes.data(), code->bytes.size(), code->entries.size());
    missing += first == 0;
    memory->offsets_.push_back(static_cast<size_t>(first));
  }
  for (const KernelCode* code : codes)
    memory->offsets_.push_back(code->entries.size());
  if (missing > 0) {
    return FailedPreconditionError(
        Concat({"kernels: expected ", codes.size(), " compiled modules, found ",
                codes.size() - missing}));
  }
  return std::shared_ptr<const CodeMemory>(std::move(memory));
}

CodeMemory::~CodeMemory() {
  const size_t count = offsets_.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    if (offsets_[i] == 0) continue;
    ember_host_free_code(static_cast<int32_t>(offsets_[i]),
                         offsets_[count + i]);
  }
}

std::vector<PhaseFunction> CodeMemory::Functions(const KernelCode& code,
                                                 size_t i) const {
  std::vector<PhaseFunction> functions;
  for (const uint32_t entry : code.entries)
    functions.push_back(reinterpret_cast<PhaseFunction>(offsets_[i] + entry));
  return functions;
}

}  // namespace ember::vm
