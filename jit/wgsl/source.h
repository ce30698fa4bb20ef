// Compiles a loop nest to a module of WGSL: an entry point for each phase.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          EmitModule(nest, Target::Of("webgpu+buffers10")));
//   c_like::TextOf(code);
//   // "// phase0: read write record\nstruct Parameters { p0: vec2<i32> }\n…"
//
// A module begins with a comment for each entry point, which says how it uses
// its bindings, in order: a driver needs that for the layout of a pipeline.
// `read` is a read-only storage buffer, `write` a storage buffer, and `record`,
// the last one, the record of a failed check. jit/wgsl/declarations.h says
// where bindings and parameters are.
//
// Errors: reasons of jit/backend/decline_reasons.h: no-proof, device-limit,
// device-type for f64, u64 and i64 values that may not fit 32 bits,
// device-matrix, too-large. Thread-safe.
#ifndef EMBER_JIT_WGSL_SOURCE_H_
#define EMBER_JIT_WGSL_SOURCE_H_

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/wgsl/target.h"

namespace ember::jit::wgsl {

// The nest must be verified. log: gets the passes that ran; may be null.
StatusOr<gpu::DeviceCode> EmitModule(const loops::LoopNest& nest,
                                     const Target& target,
                                     PassLog* log = nullptr);

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_SOURCE_H_
