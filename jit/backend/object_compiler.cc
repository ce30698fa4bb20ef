#include "jit/backend/object_compiler.h"

#include "base/concat.h"
#include "jit/decline_reasons.h"

namespace ember::jit {

StatusOr<gpu::DeviceCode> Compiler::CompileForDevice(const loops::LoopNest&,
                                                     std::string_view target,
                                                     std::vector<CodeText>*) {
  return Decline(
      DeclineReason::kTarget,
      Concat({"expected a compiler for ", target, ", found one for CPUs"}));
}

StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count) {
  auto result = std::make_unique<CompiledNest>();
  const vm::KernelCode* const codes[] = {&code};
  EMBER_ASSIGN_OR_RETURN(result->memory, vm::CodeMemory::Load(codes));
  const std::vector<vm::PhaseFunction> functions =
      result->memory->Functions(code, 0);
  for (size_t i = 0; i < functions.size(); ++i) {
    (i < prologue_count ? result->prologue : result->phases)
        .push_back(functions[i]);
  }
  result->code_bytes = static_cast<int64_t>(code.bytes.size());
  return result;
}

}  // namespace ember::jit
