#include <string>
#include <utility>
#include <vector>

#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "tests/nests/host_code.h"
#include "tests/nests/runs.h"

namespace ember::nests {
namespace {

// Compiles the nest, unless the last call compiled the same one: cases call a
// nest with many parameters, so its code is kept.
StatusOr<const jit::CompiledNest*> Compile(const loops::LoopNest& nest,
                                           jit::Effort effort) {
  struct Compiled {
    std::string text;
    std::unique_ptr<jit::CompiledNest> code;
  };
  static Compiled& fast = *new Compiled;
  static Compiled& full = *new Compiled;
  Compiled& kept = effort == jit::Effort::kFast ? fast : full;
  std::string text = loops::ToText(nest);
  if (kept.text != text) {
    EMBER_ASSIGN_OR_RETURN(auto code,
                           jit::llvm_ir::TestCompiler().Compile(
                               nest, {.effort = effort, .keep_llvm = true}));
    kept = {.text = std::move(text), .code = std::move(code)};
  }
  return kept.code.get();
}

}  // namespace

std::string LlvmMissing() { return jit::llvm_ir::TestMissingHere(); }

std::string LlvmMachine() { return jit::llvm_ir::TestMachineName(); }

bool LlvmKeepsSubnormals(DType type) {
  return type == DType::kF64 || jit::llvm_ir::KeepsSubnormals();
}

Status ScheduleForLlvm(schedule::Schedule& schedule) {
  return ScheduleByModel(jit::llvm_ir::TestCpuModel(), schedule,
                         {.exact = true});
}

Status RunLlvm(const loops::LoopNest& nest,
               const std::vector<int64_t>& parameters, Contents& buffers) {
  std::vector<HostCode> codes;
  for (const jit::Effort effort : {jit::Effort::kFast, jit::Effort::kFull}) {
    EMBER_ASSIGN_OR_RETURN(const jit::CompiledNest* const code,
                           Compile(nest, effort));
    codes.push_back(
        {.how = effort == jit::Effort::kFast ? "fast code" : "full code",
         .code = code,
         .text = code->llvm});
  }
  return RunHostCode(nest, codes, parameters, buffers);
}

}  // namespace ember::nests
