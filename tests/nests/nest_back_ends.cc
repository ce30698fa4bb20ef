#include "tests/nests/runs.h"

namespace ember::nests {
namespace {

std::string NothingMissing() { return ""; }
bool KeepsAll(DType) { return true; }
std::optional<std::vector<loops::MatrixType>> AnyMatrices() {
  return std::nullopt;
}

constexpr NestBackEnd kBackEnds[] = {
    {.name = "llvm",
     .doc = "machine code of this processor or of EMBER_TEST_PROCESSOR, "
            "compiled with each effort",
     .random_nests = 50,
     .missing = LlvmMissing,
     .machine = LlvmMachine,
     .keeps_subnormals = LlvmKeepsSubnormals,
     .matrices = AnyMatrices,
     .schedule = ScheduleForLlvm,
     .run = RunLlvm},
    {.name = "c",
     .doc = "C by this machine's compiler or EMBER_TEST_CC",
     .lanes = {4, 7},
     // Many cases share a nest, because starting the compiler takes longer than
     // running the code.
     .cases_at_once = 24,
     .random_nests = 24,
     .missing = CMissing,
     .machine = CMachine,
     .keeps_subnormals = KeepsAll,
     .matrices = AnyMatrices,
     .schedule = ScheduleForC,
     .run = RunC},
    {.name = "spirv",
     .doc = "SPIR-V on the first Vulkan device",
     .is_device = true,
     .quietens_f16 = true,
     .lanes = {4, 7},
     // Only few random nests are run, because lavapipe takes seconds to compile
     // a large module.
     .random_nests = 12,
     .missing = SpirvMissing,
     .machine = SpirvMachine,
     .keeps_subnormals = SpirvKeepsSubnormals,
     .matrices = SpirvMatrices,
     .schedule = ScheduleForSpirv,
     .run = RunSpirv,
     .figures = SpirvFigures},
    {.name = "ptx",
     .doc = "kernels for CUDA on the emulated grid, or on the device that "
            "EMBER_CUDA_TEST_DEVICE names",
     .is_device = true,
     .lanes = {4, 7},
     // Many cases share a nest, because starting the compiler takes longer than
     // running the code.
     .cases_at_once = 24,
     .random_nests = 24,
     .missing = NothingMissing,
     .machine = PtxMachine,
     .keeps_subnormals = KeepsAll,
     .matrices = PtxMatrices,
     .schedule = ScheduleForPtx,
     .run = RunPtx},
    {.name = "opencl",
     .doc = "OpenCL C on the first OpenCL device",
     .is_device = true,
     .lanes = {4, 7},
     // Only few arithmetic cases and random nests are run, because PoCL takes
     // part of a second to compile a kernel.
     .cases_at_once = 24,
     .case_share = 8,
     .random_nests = 6,
     .missing = OpenClMissing,
     .machine = OpenClMachine,
     .keeps_subnormals = OpenClKeepsSubnormals,
     .matrices = OpenClMatrices,
     .schedule = ScheduleForOpenCl,
     .run = RunOpenCl},
    {.name = "metal",
     .doc = "MSL on the fake Metal device, which compiles it as C++ and runs "
            "it thread by thread",
     .is_device = true,
     .lanes = {4, 7},
     .cases_at_once = 24,
     .case_share = 3,
     .has_f64 = false,
     .random_nests = 24,
     .missing = MetalMissing,
     .machine = MetalMachine,
     .keeps_subnormals = KeepsAll,
     .matrices = MetalMatrices,
     .schedule = ScheduleForMetal,
     .run = RunMetal},
    {.name = "wgsl",
     .doc = "WGSL on the adapter that Dawn for Node finds",
     .is_device = true,
     .lanes = {4, 7},
     // Few cases share a nest, because an entry point has few storage buffers.
     .case_share = 4,
     .has_f64 = false,
     .has_wide_integers = false,
     .random_nests = 24,
     .missing = WgslMissing,
     .machine = WgslMachine,
     .keeps_subnormals = WgslKeepsSubnormals,
     .matrices = WgslMatrices,
     .schedule = ScheduleForWgsl,
     .run = RunWgsl},
};

}  // namespace

std::span<const NestBackEnd> NestBackEnds() { return kBackEnds; }

}  // namespace ember::nests
