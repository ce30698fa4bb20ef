// The processors that kernels are tested for, one row each: what schedules know
// of them, what LLVM makes code for, and what runs that code here.
//
//   const Processor* processor = FindProcessor("x86-64-v4-vnni");
//   CpuModel::Of(processor->target);          // default schedules
//   NewLlvmCompiler(std::string(processor->llvm));
//
// Tests take the one that EMBER_TEST_PROCESSOR names (jit/llvm/testing.h).
#ifndef EMBER_JIT_TARGET_PROCESSORS_H_
#define EMBER_JIT_TARGET_PROCESSORS_H_

#include <span>
#include <string_view>

namespace ember::jit {

struct Processor {
  std::string_view name;
  // As hal::HostTarget() would describe such a machine.
  std::string_view target;
  // "triple:cpu+feature+feature", as jit/llvm/host.h reads it.
  std::string_view llvm;
  // A command that runs programs for it, words; empty: it is of the kind that
  // this project is built on, and some machines run its code themselves.
  std::string_view emulator;
  // NEON of 32-bit ARM takes subnormal numbers of 32 bits for zero.
  bool keeps_subnormals = true;
};

std::span<const Processor> Processors();
// Null if there is none of that name.
const Processor* FindProcessor(std::string_view name);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_PROCESSORS_H_
