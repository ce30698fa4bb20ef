// The processors that kernels are tested for, one row each: their model for
// schedules, LLVM's name for them, and what runs their code here.
//
//   const Processor* processor = FindProcessor("x86-64-v4-vnni");
//   CpuModel::Of(processor->target);          // default schedules
//   NewLlvmCompiler(std::string(processor->llvm));
//
// Tests use the one that EMBER_TEST_PROCESSOR names
// (jit/llvm/testing/run_nest.h).
#ifndef EMBER_JIT_TARGET_TESTING_PROCESSORS_H_
#define EMBER_JIT_TARGET_TESTING_PROCESSORS_H_

#include <span>
#include <string_view>

namespace ember::jit {

struct Processor {
  std::string_view name;
  // The text with which hal::HostTarget() would describe a machine with this
  // processor.
  std::string_view target;
  // LLVM's name, as jit/llvm/passes/host.h reads it:
  // "triple:cpu+feature+feature".
  std::string_view llvm;
  // The command, as words, that runs programs for the processor on this machine
  // (an emulator). Empty if the processor has the architecture that this
  // project is built on: some machines then run its code themselves.
  std::string_view emulator;
  // True if arithmetic keeps subnormal numbers. False for NEON of 32-bit ARM,
  // which treats subnormal f32 numbers as zero.
  bool keeps_subnormals = true;
};

std::span<const Processor> Processors();
// Returns the row with the name; null if there is none.
const Processor* FindProcessor(std::string_view name);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_TESTING_PROCESSORS_H_
