#include "tests/cases/executor_runs.h"

namespace ember::cases {
namespace {

std::string NothingMissing() { return ""; }
bool Keeps() { return true; }

constexpr Executor kExecutors[] = {
    {.name = "tier0",
     .doc = "the VM's interpreter, with one worker and with three",
     .runs_dispatches = true,
     .zeros_are_equal = true,
     .missing = NothingMissing,
     .keeps_subnormals = Keeps,
     .run = RunTierZero},
    {.name = "nest-evaluator",
     .doc = "the evaluator of loop nests, forwards and backwards, parameters "
            "open and as constants",
     .runs_nests = true,
     .zeros_are_equal = true,
     .missing = NothingMissing,
     .keeps_subnormals = Keeps,
     .run = RunNestEvaluator},
    {.name = "llvm",
     .doc = "machine code of this processor or of EMBER_TEST_PROCESSOR, "
            "compiled with each effort",
     .runs_nests = true,
     .has_same_messages = true,
     .missing = LlvmMissing,
     .keeps_subnormals = LlvmKeepsSubnormals,
     .run = RunLlvm},
    {.name = "spirv",
     .doc = "SPIR-V on the first Vulkan device",
     .runs_nests = true,
     .may_decline = true,
     .zeros_are_equal = true,
     .missing = SpirvMissing,
     .keeps_subnormals = SpirvKeepsSubnormals,
     .run = RunSpirv,
     .figures = SpirvFigures},
    {.name = "ptx",
     .doc = "kernels for CUDA on the emulated grid",
     .runs_nests = true,
     .may_decline = true,
     .zeros_are_equal = true,
     .missing = NothingMissing,
     .keeps_subnormals = Keeps,
     .run = RunPtx},
};

}  // namespace

std::span<const Executor> Executors() { return kExecutors; }

}  // namespace ember::cases
