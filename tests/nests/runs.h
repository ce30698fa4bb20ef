// Declares the functions that the rows of nest_back_ends.cc name. The functions
// of each back end are in a file of their own; see nest_back_end.h.
#ifndef EMBER_TESTS_NESTS_RUNS_H_
#define EMBER_TESTS_NESTS_RUNS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/nests/nest_back_end.h"

namespace ember::nests {

// The back end of llvm.cc: machine code for this processor, or for the one that
// EMBER_TEST_PROCESSOR names (jit/llvm/testing/run_nest.h), compiled with each
// effort, in memory with guarded bounds.
std::string LlvmMissing();
std::string LlvmMachine();
bool LlvmKeepsSubnormals(DType type);
Status ScheduleForLlvm(schedule::Schedule& schedule);
Status RunLlvm(const loops::LoopNest& nest,
               const std::vector<int64_t>& parameters, Contents& buffers);

// The back end of c.cc: C, compiled by this machine's compiler or by
// EMBER_TEST_CC (jit/c/testing/compile_here.h), in memory with guarded bounds.
std::string CMissing();
std::string CMachine();
Status ScheduleForC(schedule::Schedule& schedule);
Status RunC(const loops::LoopNest& nest, const std::vector<int64_t>& parameters,
            Contents& buffers);

// The back end of spirv.cc: SPIR-V on the first Vulkan device. One nest in
// three is compiled with other instructions for dot loops, and one in three for
// another memory model, as a hash of the nest's text decides.
std::string SpirvMissing();
std::string SpirvMachine();
bool SpirvKeepsSubnormals(DType type);
std::optional<std::vector<loops::MatrixType>> SpirvMatrices();
Status ScheduleForSpirv(schedule::Schedule& schedule);
Status RunSpirv(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters, Contents& buffers);
StatusOr<std::string> SpirvFigures(const loops::LoopNest& nest,
                                   std::string_view target);

// The back end of ptx.cc: kernels for CUDA on the emulated grid, or on the
// device that EMBER_CUDA_TEST_DEVICE names (jit/ptx/testing/device.h). NVIDIA's
// assembler, if it is installed, must accept the PTX of some nests.
std::string PtxMachine();
std::optional<std::vector<loops::MatrixType>> PtxMatrices();
Status ScheduleForPtx(schedule::Schedule& schedule);
Status RunPtx(const loops::LoopNest& nest,
              const std::vector<int64_t>& parameters, Contents& buffers);

// The back end of opencl.cc: OpenCL C on the first OpenCL device.
std::string OpenClMissing();
std::string OpenClMachine();
bool OpenClKeepsSubnormals(DType type);
std::optional<std::vector<loops::MatrixType>> OpenClMatrices();
Status ScheduleForOpenCl(schedule::Schedule& schedule);
Status RunOpenCl(const loops::LoopNest& nest,
                 const std::vector<int64_t>& parameters, Contents& buffers);

// The back end of metal.cc: MSL on the driver above fake functions of Metal,
// which compile it as C++ (jit/metal/testing/run_nest.h).
std::string MetalMissing();
std::string MetalMachine();
std::optional<std::vector<loops::MatrixType>> MetalMatrices();
Status ScheduleForMetal(schedule::Schedule& schedule);
Status RunMetal(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters, Contents& buffers);

// The back end of wgsl.cc: WGSL on the adapter that Dawn for Node finds
// (jit/wgsl/testing/webgpu_device.h).
std::string WgslMissing();
std::string WgslMachine();
bool WgslKeepsSubnormals(DType type);
std::optional<std::vector<loops::MatrixType>> WgslMatrices();
Status ScheduleForWgsl(schedule::Schedule& schedule);
Status RunWgsl(const loops::LoopNest& nest,
               const std::vector<int64_t>& parameters, Contents& buffers);

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_RUNS_H_
