// Runs a dispatch through one function on each executor (tier 0, kernels of the
// CPU and of devices), for tests that compare them.
#ifndef EMBER_JIT_KERNEL_TESTING_DISPATCH_EXECUTORS_H_
#define EMBER_JIT_KERNEL_TESTING_DISPATCH_EXECUTORS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::jit {

struct DispatchExecutor {
  const char* name;
  int tier = 0;
  // Name of the device that runs the kernels; null: the CPU.
  const char* device = nullptr;
};

inline constexpr DispatchExecutor kDispatchExecutors[] = {
    {"tier 0"},
    {"tier 1", 1},
    {"tier 2", 2},
    {"Vulkan, tier 1", 1, "vulkan"},
    {"Vulkan, tier 2", 2, "vulkan"},
    {"CUDA, tier 2", 2, "cuda-emulated"}};

// Returns the executors that this machine has devices for.
std::vector<DispatchExecutor> DispatchExecutorsHere();

// Runs the dispatch under default schedules, in one thread. sizes: bytes of
// inputs and outputs. Returns kUnimplemented if a kernel is declined.
Status RunBy(const DispatchExecutor& executor, const tensor::Dispatch& dispatch,
             const std::vector<int64_t>& parameters,
             std::span<void* const> buffers, std::span<const int64_t> sizes);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_TESTING_DISPATCH_EXECUTORS_H_
