#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/c/backend.h"
#include "jit/c/target.h"
#include "jit/c/testing/compile_here.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "tests/nests/host_code.h"
#include "tests/nests/runs.h"

namespace ember::nests {
namespace {

// Compiles the nest, unless the last call compiled the same one: cases call a
// nest with many parameters, so its code is kept.
StatusOr<const jit::CompiledNest*> Compile(const loops::LoopNest& nest) {
  struct Compiled {
    std::string text;
    std::unique_ptr<jit::CompiledNest> code;
  };
  static Compiled& kept = *new Compiled;
  std::string text = loops::ToText(nest);
  if (kept.text != text) {
    EMBER_ASSIGN_OR_RETURN(auto code, jit::c::CompileHere(nest));
    kept = {.text = std::move(text), .code = std::move(code)};
  }
  return kept.code.get();
}

}  // namespace

std::string CMissing() {
  if (const jit::Processor* const processor = jit::llvm_ir::TestProcessor()) {
    return Concat(
        {"C is compiled for this machine, not for ", processor->name});
  }
  return jit::c::MissingCompiler();
}

std::string CMachine() { return "this machine"; }

Status ScheduleForC(schedule::Schedule& schedule) {
  return jit::kCBackend.schedule(jit::c::kTargetName, {.is_exact = true},
                                 schedule);
}

Status RunC(const loops::LoopNest& nest, const std::vector<int64_t>& parameters,
            Contents& buffers) {
  EMBER_ASSIGN_OR_RETURN(const jit::CompiledNest* const code, Compile(nest));
  const HostCode codes[] = {{.how = "C", .code = code, .text = code->assembly}};
  return RunHostCode(nest, codes, parameters, buffers);
}

}  // namespace ember::nests
