#include "jit/wgsl/source.h"

#include <string>

#include "base/concat.h"
#include "jit/c_like/kernels.h"
#include "jit/wgsl/declarations.h"
#include "jit/wgsl/language.h"

namespace ember::jit::wgsl {
namespace {

// Returns a line for each entry point that says how it uses its bindings.
std::string HeadOf(const gpu::DeviceCode& code) {
  std::string head;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const gpu::PhaseCode& phase : *phases) {
      head += Concat({"// ", phase.entry_point, ":"});
      for (const gpu::PhaseCode::Binding& binding : phase.bindings)
        head += binding.is_written ? " write" : " read";
      head += phase.has_checks ? " record\n" : "\n";
    }
  }
  return head;
}

}  // namespace

StatusOr<gpu::DeviceCode> EmitModule(const loops::LoopNest& nest,
                                     const Target& target, PassLog* log) {
  Declarations declarations(target);
  EMBER_ASSIGN_OR_RETURN(
      gpu::DeviceCode code,
      c_like::PrintKernels(
          nest,
          {.language = kLanguage,
           .device = target,
           .prelude = {},
           .format = "wgsl",
           .declarations =
               [&](const loops::LoopNest& legal, const loops::Phase& phase) {
                 return declarations.Of(legal, phase);
               }},
          log));
  const std::string head = HeadOf(code);
  code.code.insert(code.code.begin(), head.begin(), head.end());
  return code;
}

}  // namespace ember::jit::wgsl
