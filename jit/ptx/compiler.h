// Loop nests to PTX, through LLVM; or, for the emulated grid, to code of this
// process that is made of the same LLVM IR.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::DeviceCode code,
//                          CompileNest(nest, Target::Of("sm_80"), nullptr));
//   device->LoadExecutable({.format = code.format, .code = code.code, …});
//
// Code generation decides nothing: which loops are of invocations, vectors or
// unrolled is the nest's. Thread-safe.
#ifndef EMBER_JIT_PTX_COMPILER_H_
#define EMBER_JIT_PTX_COMPILER_H_

#include <string>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/ptx/target.h"

namespace ember::jit::ptx {

// For people.
struct CodeTexts {
  std::string llvm;
  std::string ptx;
};

// The nest is verified. texts, which may be null, get the code as text, PTX
// also where the code is for the emulated grid. kUnimplemented with a reason of
// jit/decline_reasons.h for what this back end leaves to others.
StatusOr<gpu::DeviceCode> CompileNest(const loops::LoopNest& nest,
                                      const Target& target, CodeTexts* texts);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_COMPILER_H_
