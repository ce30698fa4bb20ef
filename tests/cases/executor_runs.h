// The functions behind the rows of executors.cc, each in a file of its own.
#ifndef EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
#define EMBER_TESTS_CASES_EXECUTOR_RUNS_H_

#include <string>
#include <vector>

#include "tests/cases/executor.h"

namespace ember::cases {

// tier_zero.cc: the VM's interpreter, with one worker and with three.
Outcome RunTierZero(const Subject& subject, const Run& run,
                    std::vector<Bytes>& buffers);

// nest_evaluator.cc: the definition of loop nests, forwards and backwards,
// parameters open and as constants.
Outcome RunNestEvaluator(const Subject& subject, const Run& run,
                         std::vector<Bytes>& buffers);

// llvm.cc: machine code of this processor, or of that which
// EMBER_TEST_PROCESSOR names (jit/llvm/testing.h), compiled with each effort,
// in memory that cannot be left.
std::string LlvmMissing();
bool LlvmKeepsSubnormals();
Outcome RunLlvm(const Subject& subject, const Run& run,
                std::vector<Bytes>& buffers);

// spirv.cc: SPIR-V on the first Vulkan device.
std::string SpirvMissing();
bool SpirvKeepsSubnormals();
Outcome RunSpirv(const Subject& subject, const Run& run,
                 std::vector<Bytes>& buffers);
StatusOr<std::string> SpirvFigures(const loops::LoopNest& nest,
                                   std::string_view target);

// ptx.cc: kernels for CUDA on the emulated grid.
Outcome RunPtx(const Subject& subject, const Run& run,
               std::vector<Bytes>& buffers);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_EXECUTOR_RUNS_H_
