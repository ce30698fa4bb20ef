#include "vm/runtime/module.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "vm/format/verifier.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Constants that a compiler made may lie anywhere.
Status Align(Constant& constant) {
  const size_t size = constant.data.size();
  if (size == 0 ||
      reinterpret_cast<uintptr_t>(constant.data.data()) % kMemoryAlignment ==
          0) {
    return OkStatus();
  }
  const size_t room =
      (size + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  std::shared_ptr<void> copy(std::aligned_alloc(kMemoryAlignment, room),
                             std::free);
  if (copy == nullptr) {
    return ResourceExhaustedError("constant '" + constant.name +
                                  "': expected " + std::to_string(room) +
                                  " bytes of memory, found less");
  }
  std::memcpy(copy.get(), constant.data.data(), size);
  constant.data = {static_cast<const uint8_t*>(copy.get()), size};
  constant.owner = std::move(copy);
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<const Module>> Module::Make(
    ModuleDefinition verified) {
  std::shared_ptr<Module> module(new Module());
  module->definition_ = std::move(verified);
  EMBER_ASSIGN_OR_RETURN(module->entry_facts_,
                         AnalyzeProgram(module->entry(), module->definition_));
  return std::shared_ptr<const Module>(std::move(module));
}

StatusOr<std::shared_ptr<const Module>> Module::Load(
    const std::string& path, const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(ModuleDefinition definition,
                         ReadModule(path, options));
  return Make(std::move(definition));
}

StatusOr<std::shared_ptr<const Module>> Module::Load(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
    const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(ModuleDefinition definition,
                         ReadModule(bytes, std::move(owner), options));
  return Make(std::move(definition));
}

StatusOr<std::shared_ptr<const Module>> Module::FromDefinition(
    ModuleDefinition definition) {
  for (Constant& constant : definition.constants)
    EMBER_RETURN_IF_ERROR(Align(constant));
  EMBER_RETURN_IF_ERROR(VerifyModule(definition));
  return Make(std::move(definition));
}

int64_t Module::constant_bytes() const {
  int64_t bytes = 0;
  for (const Constant& constant : definition_.constants) {
    bytes += static_cast<int64_t>(constant.data.size());
  }
  return bytes;
}

std::string SignatureText(const Program& program,
                          const TensorSignature& signature) {
  std::string text;
  for (int64_t dim : signature.dims) {
    text += dim >= 0 ? std::to_string(dim)
                     : program.symbols[static_cast<size_t>(-1 - dim)];
    text += "x";
  }
  return text + std::string(DTypeName(signature.type));
}

}  // namespace ember::vm
