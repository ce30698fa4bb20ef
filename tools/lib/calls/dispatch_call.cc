#include "tools/lib/calls/dispatch_call.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor/analysis/index_algebra.h"
#include "tools/lib/tensors/compare.h"
#include "vm/interpreter/plan.h"

namespace ember::tools {
namespace {

vm::Tensor& Add(CallOperands& operands, const tensor::Buffer& buffer,
                vm::Tensor tensor) {
  auto& list = buffer.kind == tensor::BufferKind::kInput ? operands.inputs
                                                         : operands.outputs;
  return list.emplace_back(std::move(tensor));
}

bool Overlap(const vm::Tensor& a, const vm::Tensor& b) {
  const auto begin = [](const vm::Tensor& t) {
    return reinterpret_cast<uintptr_t>(t.data);
  };
  const auto end = [&](const vm::Tensor& t) {
    return begin(t) + static_cast<uintptr_t>(t.byte_size);
  };
  return begin(a) < end(b) && begin(b) < end(a);
}

}  // namespace

StatusOr<CallOperands> CallOperands::Borrow(const tensor::Dispatch& dispatch,
                                            const vm::KernelCall& call) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, call.parameters));
  CallOperands operands;
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    Add(operands, buffer,
        vm::Tensor::Borrow(buffer.type, header.Extents(buffer),
                           call.buffers[i]));
  }
  for (const vm::Tensor& output : operands.outputs) {
    const auto input =
        std::ranges::find(operands.inputs, output.data, &vm::Tensor::data);
    const bool is_shared =
        output.byte_size > 0 && input != operands.inputs.end();
    operands.shared.push_back(
        is_shared ? static_cast<int>(input - operands.inputs.begin()) : -1);
  }
  return operands;
}

void CallOperands::Share(std::span<const int> with) {
  for (size_t i = 0; i < std::min(with.size(), outputs.size()); ++i) {
    if (with[i] < 0 || static_cast<size_t>(with[i]) >= inputs.size()) continue;
    vm::Tensor& input = inputs[static_cast<size_t>(with[i])];
    vm::Tensor& output = outputs[i];
    if (output.byte_size > input.byte_size) {
      // The output is computed in the input's memory. If the output is larger,
      // both use the output's memory, so that both fit.
      std::memcpy(output.data, input.data,
                  static_cast<size_t>(input.byte_size));
      input.memory = output.memory;
      input.data = output.data;
    } else {
      output.memory = input.memory;
      output.data = input.data;
    }
  }
}

StatusOr<CallOperands> CallOperands::Copy(
    const tensor::Dispatch& dispatch, const vm::KernelCall& call,
    const std::vector<bool>& constant_inputs) {
  EMBER_ASSIGN_OR_RETURN(CallOperands operands, Borrow(dispatch, call));
  for (size_t i = 0; i < operands.inputs.size(); ++i) {
    if (i < constant_inputs.size() && constant_inputs[i]) continue;
    EMBER_ASSIGN_OR_RETURN(operands.inputs[i], CopyOf(operands.inputs[i]));
  }
  for (vm::Tensor& output : operands.outputs) {
    EMBER_ASSIGN_OR_RETURN(output, CopyOf(output));
  }
  return operands;
}

StatusOr<CallOperands> CallOperands::ForInputs(
    const tensor::Dispatch& dispatch, std::span<const int64_t> parameters,
    std::vector<vm::Tensor> inputs) {
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  CallOperands operands;
  if (inputs.size() != dispatch.input_count()) {
    return InvalidArgumentError("dispatch @" + dispatch.name + ": expected " +
                                std::to_string(dispatch.input_count()) +
                                " inputs, found " +
                                std::to_string(inputs.size()));
  }
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    if (buffer.kind == tensor::BufferKind::kTemporary) continue;
    std::vector<int64_t> extents = header.Extents(buffer);
    if (buffer.kind == tensor::BufferKind::kOutput) {
      EMBER_ASSIGN_OR_RETURN(
          vm::Tensor output,
          vm::Tensor::Allocate(buffer.type, std::move(extents)));
      operands.outputs.push_back(std::move(output));
      continue;
    }
    vm::Tensor& input = inputs[operands.inputs.size()];
    if (input.type != buffer.type || input.dims != extents) {
      return InvalidArgumentError("dispatch @" + dispatch.name + ": input %" +
                                  buffer.name + ": expected " +
                                  vm::TensorTypeText(buffer.type, extents) +
                                  ", found " + input.TypeText());
    }
    operands.inputs.push_back(std::move(input));
  }
  return operands;
}

std::vector<void*> CallOperands::Buffers() const {
  std::vector<void*> buffers;
  for (const auto* tensors : {&inputs, &outputs}) {
    for (const vm::Tensor& tensor : *tensors) buffers.push_back(tensor.data);
  }
  return buffers;
}

StatusOr<vm::Tensor> CopyOf(const vm::Tensor& tensor) {
  EMBER_ASSIGN_OR_RETURN(vm::Tensor copy,
                         vm::Tensor::Allocate(tensor.type, tensor.dims));
  CopyElements(tensor, copy);
  return copy;
}

void CopyElements(const vm::Tensor& from, vm::Tensor& to) {
  EMBER_CHECK(from.byte_size == to.byte_size) << from.TypeText();
  if (from.byte_size > 0)
    std::memcpy(to.data, from.data, static_cast<size_t>(from.byte_size));
}

Status RunTierZero(const tensor::Dispatch& dispatch,
                   std::span<const int64_t> parameters,
                   std::span<void* const> buffers, ParallelRunner& runner) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Plan> plan,
                         vm::Plan::Make(dispatch, parameters, {}));
  return plan->Run(buffers, runner);
}

std::optional<std::string> DifferenceOf(const tensor::Dispatch& dispatch,
                                        const CallOutcome& got,
                                        const CallOutcome& want,
                                        double factor) {
  if (!got.status.ok() || !want.status.ok()) {
    if (got.status.ok() == want.status.ok()) return std::nullopt;
    const auto text = [](const Status& status) {
      return status.ok() ? "success" : "the error " + status.ToString();
    };
    return "got " + text(got.status) + ", want " + text(want.status);
  }
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    const Comparison comparison =
        CompareTiers(got.outputs[i], want.outputs[i], factor);
    if (comparison.equal) continue;
    return "%" + dispatch.buffers[dispatch.input_count() + i].name +
           comparison.message;
  }
  return std::nullopt;
}

std::optional<size_t> ChangedInput(const CallOperands& before,
                                   const CallOperands& after) {
  for (size_t i = 0; i < after.inputs.size(); ++i) {
    const vm::Tensor& input = after.inputs[i];
    const vm::Tensor& copy = before.inputs[i];
    if (input.data == copy.data || input.byte_size == 0) continue;
    const bool is_shared = std::ranges::any_of(
        after.outputs,
        [&](const vm::Tensor& output) { return Overlap(input, output); });
    if (!is_shared && std::memcmp(input.data, copy.data,
                                  static_cast<size_t>(input.byte_size)) != 0)
      return i;
  }
  return std::nullopt;
}

}  // namespace ember::tools
