// Compiles a loop nest to a program of MSL: a kernel function for each phase.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          EmitProgram(nest, Target::Of("metal2.4")));
//
// Errors: reasons of jit/backend/decline_reasons.h: no-proof, device-limit,
// device-type for f64, device-matrix, too-large. Thread-safe.
#ifndef EMBER_JIT_METAL_SOURCE_H_
#define EMBER_JIT_METAL_SOURCE_H_

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/metal/target.h"

namespace ember::jit::metal {

// Emits the program of a verified nest. log: gets the passes that ran; may be
// null.
StatusOr<gpu::DeviceCode> EmitProgram(const loops::LoopNest& nest,
                                      const Target& target,
                                      PassLog* log = nullptr);

}  // namespace ember::jit::metal

#endif  // EMBER_JIT_METAL_SOURCE_H_
