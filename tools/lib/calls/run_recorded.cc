#include "tools/lib/calls/run_recorded.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tools/lib/calls/dispatch_call.h"

namespace ember::tools {
namespace {

// The memory of one operand: `visible` is a buffer that the host can access,
// `local` is one in the device's own memory.
struct DeviceOperand {
  // `local` is null if the device shares its memory with the host. Then the
  // device works on `visible`.
  std::unique_ptr<hal::Buffer> visible, local;
  hal::Buffer* buffer() const {
    return local != nullptr ? local.get() : visible.get();
  }
};

StatusOr<DeviceOperand> Upload(hal::Device& device, const vm::Tensor& tensor,
                               hal::CommandList& list) {
  // An operand without elements gets memory, too, because the kernel binds a
  // buffer for each operand.
  const int64_t bytes = std::max<int64_t>(tensor.byte_size, 4);
  DeviceOperand operand;
  EMBER_ASSIGN_OR_RETURN(operand.visible,
                         device.Allocate(bytes, hal::MemoryKind::kHostVisible));
  if (tensor.byte_size > 0) {
    std::memcpy(operand.visible->host_data(), tensor.data,
                static_cast<size_t>(tensor.byte_size));
  }
  if (device.limits().shares_memory) return operand;
  EMBER_ASSIGN_OR_RETURN(operand.local,
                         device.Allocate(bytes, hal::MemoryKind::kDeviceLocal));
  EMBER_RETURN_IF_ERROR(list.Copy({operand.visible.get(), 0, bytes},
                                  {operand.local.get(), 0, bytes}));
  return operand;
}

}  // namespace

Status RunRecorded(hal::Device& device, const vm::RecordedKernel& kernel,
                   const tensor::Dispatch& dispatch,
                   const vm::KernelCall& call) {
  EMBER_ASSIGN_OR_RETURN(const CallOperands operands,
                         CallOperands::Borrow(dispatch, call));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::CommandList> list,
                         device.CreateCommandList());
  std::vector<DeviceOperand> memory;
  // Maps each buffer of the dispatch to the element of `memory` that holds it.
  // Buffers that share memory have the same element.
  std::vector<size_t> owner;
  for (const vm::Tensor& input : operands.inputs) {
    owner.push_back(memory.size());
    EMBER_ASSIGN_OR_RETURN(DeviceOperand operand, Upload(device, input, *list));
    memory.push_back(std::move(operand));
  }
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    const int shared = operands.shared[i];
    if (shared >= 0 && operands.inputs[static_cast<size_t>(shared)].byte_size >=
                           operands.outputs[i].byte_size) {
      owner.push_back(owner[static_cast<size_t>(shared)]);
      continue;
    }
    owner.push_back(memory.size());
    // The old contents of outputs are copied to the device before the call,
    // because a dispatch may leave some elements as they are.
    EMBER_ASSIGN_OR_RETURN(DeviceOperand operand,
                           Upload(device, operands.outputs[i], *list));
    memory.push_back(std::move(operand));
  }
  std::vector<hal::BufferRange> ranges;
  for (size_t i = 0; i < owner.size(); ++i) {
    const vm::Tensor& tensor =
        i < operands.inputs.size()
            ? operands.inputs[i]
            : operands.outputs[i - operands.inputs.size()];
    ranges.push_back(
        {memory[owner[i]].buffer(), 0, std::max<int64_t>(tensor.byte_size, 4)});
  }
  EMBER_RETURN_IF_ERROR(list->Barrier());
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Recording> recording,
                         kernel.Record({call.parameters, ranges, *list}));
  EMBER_RETURN_IF_ERROR(list->Barrier());
  for (const DeviceOperand& operand : memory) {
    if (operand.local == nullptr) continue;
    const int64_t bytes = operand.local->size();
    EMBER_RETURN_IF_ERROR(list->Copy({operand.local.get(), 0, bytes},
                                     {operand.visible.get(), 0, bytes}));
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Fence> fence,
                         device.Submit(*list));
  EMBER_RETURN_IF_ERROR(fence->Wait());
  if (recording != nullptr) EMBER_RETURN_IF_ERROR(recording->Outcome());
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    const vm::Tensor& output = operands.outputs[i];
    if (output.byte_size == 0) continue;
    std::memcpy(output.data,
                memory[owner[operands.inputs.size() + i]].visible->host_data(),
                static_cast<size_t>(output.byte_size));
  }
  return OkStatus();
}

}  // namespace ember::tools
