#include "jit/backend/object_compiler.h"

#include <utility>

#include "jit/backend/stopwatch.h"

namespace ember::jit {

StatusOr<std::unique_ptr<CompiledNest>> ObjectCompiler::Compile(
    const loops::LoopNest& nest, const CompileOptions& options) {
  CompiledNest figures;
  EMBER_ASSIGN_OR_RETURN(const vm::KernelCode made,
                         CompileToCode(nest, options, &figures));
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         LoadCode(made, nest.prologue.size()));
  code->code_bytes = figures.code_bytes;
  code->optimize_ms = figures.optimize_ms;
  code->codegen_ms = figures.codegen_ms + stopwatch.Lap();
  code->llvm = std::move(figures.llvm);
  code->assembly = std::move(figures.assembly);
  code->passes = std::move(figures.passes);
  return code;
}

StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count) {
  auto result = std::make_unique<CompiledNest>();
  result->code_bytes = static_cast<int64_t>(code.bytes.size());
  if (!code.is_machine_code()) {
    result->code = code;
    return result;
  }
  const vm::KernelCode* const codes[] = {&code};
  EMBER_ASSIGN_OR_RETURN(result->memory, vm::CodeMemory::Load(codes));
  const std::vector<vm::PhaseFunction> functions =
      result->memory->Functions(code, 0);
  for (size_t i = 0; i < functions.size(); ++i) {
    (i < prologue_count ? result->prologue : result->phases)
        .push_back(functions[i]);
  }
  return result;
}

}  // namespace ember::jit
