// Compiles loop nests through LLVM to PTX or, for the emulated grid, the same
// LLVM IR to code of this process.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          CompileNest(nest, Target::Of("sm_80"), nullptr));
//   device->LoadExecutable({.format = code.format, .code = code.code, …});
//
// Code generation decides nothing: the nest says which loops run as invocations
// or vectors and which are unrolled. Thread-safe.
#ifndef EMBER_JIT_PTX_COMPILER_H_
#define EMBER_JIT_PTX_COMPILER_H_

#include <string>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/ptx/target.h"

namespace ember::jit::ptx {

// A nest's code as readable text.
struct CodeTexts {
  std::string llvm;
  std::string ptx;
};

// Compiles the nest. The nest must be verified. texts: may be null; gets the
// code as text, including PTX even if the code is for the emulated grid. log:
// if it is not null, gets the passes that ran.
// Returns kUnimplemented with a reason of jit/backend/decline_reasons.h if this
// back end does not support the nest.
StatusOr<gpu::DeviceCode> CompileNest(const loops::LoopNest& nest,
                                      const Target& target, CodeTexts* texts,
                                      PassLog* log = nullptr);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_COMPILER_H_
