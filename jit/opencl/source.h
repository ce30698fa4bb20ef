// Compiles a loop nest to a program of OpenCL C: a kernel function for each
// phase.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          EmitProgram(nest, Target::Of("opencl1.2+f64")));
//
// Errors: reasons of jit/backend/decline_reasons.h: no-proof, device-limit,
// device-type for f64 that the device lacks, device-matrix, too-large.
// Thread-safe.
#ifndef EMBER_JIT_OPENCL_SOURCE_H_
#define EMBER_JIT_OPENCL_SOURCE_H_

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/opencl/target.h"

namespace ember::jit::opencl {

// Emits the program of a verified nest. log: gets the passes that ran; may be
// null.
StatusOr<gpu::DeviceCode> EmitProgram(const loops::LoopNest& nest,
                                      const Target& target,
                                      PassLog* log = nullptr);

}  // namespace ember::jit::opencl

#endif  // EMBER_JIT_OPENCL_SOURCE_H_
