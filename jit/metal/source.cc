#include "jit/metal/source.h"

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/kernels.h"
#include "jit/metal/language.h"

namespace ember::jit::metal {
namespace {

// Checks that no phase has so many bindings that they reach kParametersIndex,
// the index of the parameters.
Status CheckBindings(const gpu::DeviceCode& code) {
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const gpu::PhaseCode& phase : *phases) {
      const size_t count = phase.bindings.size() + (phase.has_checks ? 1 : 0);
      if (count > size_t{kParametersIndex}) {
        return Decline(
            DeclineReason::kDeviceLimit,
            Concat({count, " buffers, where a kernel has ", kParametersIndex}));
      }
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<gpu::DeviceCode> EmitProgram(const loops::LoopNest& nest,
                                      const Target& target, PassLog* log) {
  EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
                         c_like::PrintKernels(nest,
                                              {.language = kLanguage,
                                               .device = target,
                                               .prelude = kPrelude,
                                               .format = "msl"},
                                              log));
  EMBER_RETURN_IF_ERROR(CheckBindings(code));
  return code;
}

}  // namespace ember::jit::metal
