#include "tools/lib/prejit/kernel_race.h"

#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/tensors/random.h"
#include "vm/interpreter/plan.h"

namespace ember::tools {
namespace {

StatusOr<CallOperands> RandomOperands(const vm::KernelRequest& request) {
  const tensor::Dispatch& dispatch = *request.dispatch;
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, request.parameters));
  RandomTensors random(1);
  std::vector<vm::Tensor> inputs;
  for (size_t i = 0; i < dispatch.input_count(); ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    if (i < request.constant_inputs.size() && request.constant_inputs[i]) {
      inputs.push_back(vm::Tensor::Borrow(
          buffer.type, header.Extents(buffer),
          const_cast<uint8_t*>(request.constant_data[i].data())));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(vm::Tensor input,
                           random.Next(buffer.type, header.Extents(buffer)));
    inputs.push_back(std::move(input));
  }
  return CallOperands::ForInputs(dispatch, request.parameters,
                                 std::move(inputs));
}

StatusOr<std::optional<Lap>> Race(const vm::KernelRequest& request,
                                  const vm::Kernel& kernel,
                                  const Clock& clock) {
  vm::Plan::Options options;
  options.constant_inputs = request.constant_inputs;
  EMBER_ASSIGN_OR_RETURN(
      const auto plan,
      vm::Plan::Make(*request.dispatch, request.parameters, options));
  SerialRunner runner;
  std::vector<Lap> laps;
  for (int i = 0; i < kLaps; ++i) {
    EMBER_ASSIGN_OR_RETURN(const CallOperands operands,
                           RandomOperands(request));
    const std::vector<void*> buffers = operands.Buffers();
    const vm::KernelCall call{request.parameters, buffers, runner};
    EMBER_RETURN_IF_ERROR(plan->Run(buffers, runner));
    EMBER_RETURN_IF_ERROR(vm::RunOnHost(kernel, call));
    laps.push_back(RunLap([&] { (void)plan->Run(buffers, runner); },
                          [&] { (void)vm::RunOnHost(kernel, call); }, {},
                          clock));
    if (laps[0].first_ns < kLeastNs || !IsFinding(laps, kMaxRatio))
      return std::optional<Lap>();
  }
  return std::optional<Lap>(MedianOf(laps));
}

}  // namespace

std::optional<Lap> LapLost(const vm::KernelRequest& request,
                           const vm::Kernel& kernel, const Clock& clock) {
  if (request.parameters.size() != request.dispatch->parameters.size())
    return std::nullopt;
  const StatusOr<std::optional<Lap>> lap = Race(request, kernel, clock);
  return lap.ok() ? *lap : std::nullopt;
}

}  // namespace ember::tools
