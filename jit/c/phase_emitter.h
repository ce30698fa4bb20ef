// Emits one phase of a legalised nest as a function of C. Internal to jit/c.
#ifndef EMBER_JIT_C_PHASE_EMITTER_H_
#define EMBER_JIT_C_PHASE_EMITTER_H_

#include <string>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

// Returns the definition of the function `name`, a PhaseFunction of
// vm/format/kernel_abi.h. Errors: kUnimplemented with a reason of
// jit/backend/decline_reasons.h.
StatusOr<std::string> EmitPhase(const loops::LoopNest& nest,
                                const loops::Phase& phase,
                                const std::string& name);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_PHASE_EMITTER_H_
