#include "jit/kernel/testing/dispatch_executors.h"

#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "hal/cpu/target.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/kernel/build_kernel.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/ptx/testing/device.h"
#include "jit/spirv/testing/run_nest.h"
#include "vm/interpreter/plan.h"

namespace ember::jit {
namespace {

Compiler& SharedCompiler() {
  static Compiler* const compiler = [] {
    auto created = llvm_ir::NewFullCompiler();
    EMBER_CHECK(created.ok()) << created.status().ToString();
    return created->release();
  }();
  return *compiler;
}

std::shared_ptr<hal::Device> DeviceOf(const DispatchExecutor& executor) {
  return executor.device == std::string_view("vulkan") ? spirv::TestDevice()
                                                       : ptx::TestDevice();
}

}  // namespace

std::vector<DispatchExecutor> DispatchExecutorsHere() {
  std::vector<DispatchExecutor> executors;
  for (const DispatchExecutor& executor : kDispatchExecutors) {
    if (executor.device == nullptr || DeviceOf(executor) != nullptr)
      executors.push_back(executor);
  }
  return executors;
}

Status RunBy(const DispatchExecutor& executor, const tensor::Dispatch& dispatch,
             const std::vector<int64_t>& parameters,
             std::span<void* const> buffers, std::span<const int64_t> sizes) {
  SerialRunner runner;
  if (executor.tier == 0) {
    EMBER_ASSIGN_OR_RETURN(const auto plan,
                           vm::Plan::Make(dispatch, parameters, {}));
    return plan->Run(buffers, runner);
  }
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.tier = executor.tier;
  if (executor.tier == 2) request.parameters = parameters;
  if (executor.device != nullptr) {
    request.device = DeviceOf(executor);
    request.target = request.device->target();
  } else {
    request.target = hal::HostTarget();
  }
  EMBER_ASSIGN_OR_RETURN(const auto kernel,
                         BuildKernel(request, SharedCompiler()));
  if (executor.device != nullptr) {
    return gpu::RunKernel(*request.device, *kernel->recorded(), parameters,
                          buffers, sizes);
  }
  return vm::RunOnHost(*kernel, {parameters, buffers, runner});
}

}  // namespace ember::jit
