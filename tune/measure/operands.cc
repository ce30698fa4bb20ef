#include "tune/measure/operands.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "base/concat.h"
#include "base/dtype.h"
#include "base/parallel.h"
#include "jit/oracle/oracle.h"
#include "tensor/concrete_header.h"
#include "tune/measure/random_elements.h"
#include "vm/interpreter/plan.h"

namespace ember::tune {
namespace {

// Largest number of bytes of a dispatch's operands together; larger dispatches
// are refused.
constexpr int64_t kMaxBytes = int64_t{1} << 31;
// Largest number of steps for judging elements that differ from tier 0's by
// more than rounding usually explains: bounds of the right result are computed
// from the definition (OracleOptions).
constexpr int64_t kMaxSteps = int64_t{1} << 20;

std::vector<const void*> DataOf(const std::vector<vm::Tensor>& tensors) {
  std::vector<const void*> data;
  data.reserve(tensors.size());
  for (const vm::Tensor& tensor : tensors) data.push_back(tensor.data);
  return data;
}

}  // namespace

StatusOr<std::unique_ptr<Operands>> Operands::Make(
    const vm::KernelRequest& request) {
  std::unique_ptr<Operands> operands(new Operands(request));
  EMBER_RETURN_IF_ERROR(operands->Fill());
  return operands;
}

Status Operands::Fill() {
  const tensor::Dispatch& dispatch = *request_.dispatch;
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, request_.parameters));
  const size_t count = dispatch.input_count() + dispatch.output_count();
  for (size_t i = 0; i < count; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    bytes_ += header.ElementCount(buffer) * DTypeByteSize(buffer.type);
    if (bytes_ > kMaxBytes) {
      return ResourceExhaustedError(
          Concat({"@", dispatch.name, ": expected operands of at most ",
                  kMaxBytes, " bytes"}));
    }
  }
  std::mt19937_64 engine(1);
  for (size_t i = 0; i < count; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    const bool is_input = i < dispatch.input_count();
    if (is_input && i < request_.constant_inputs.size() &&
        request_.constant_inputs[i]) {
      inputs_.push_back(vm::Tensor::Borrow(buffer.type, header.Extents(buffer),
                                           request_.constant_data[i].data()));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(
        vm::Tensor tensor,
        vm::Tensor::Allocate(buffer.type, header.Extents(buffer)));
    if (is_input) {
      FillRandom(buffer.type, static_cast<uint8_t*>(tensor.data),
                 static_cast<size_t>(tensor.byte_size), engine);
      inputs_.push_back(std::move(tensor));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(
        vm::Tensor expected,
        vm::Tensor::Allocate(buffer.type, header.Extents(buffer)));
    std::memset(expected.data, 0, static_cast<size_t>(expected.byte_size));
    outputs_.push_back(std::move(tensor));
    expected_.push_back(std::move(expected));
  }
  std::vector<void*> reference;
  for (const vm::Tensor& input : inputs_) {
    buffers_.push_back(input.data);
    reference.push_back(input.data);
  }
  for (const vm::Tensor& output : outputs_) buffers_.push_back(output.data);
  for (const vm::Tensor& output : expected_) reference.push_back(output.data);
  vm::Plan::Options options;
  options.constant_inputs = request_.constant_inputs;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Plan> plan,
                         vm::Plan::MakeFor(dispatch, header, options));
  SerialRunner runner;
  return plan->Run(reference, runner);
}

void Operands::ClearOutputs() {
  for (vm::Tensor& output : outputs_)
    std::memset(output.data, 0, static_cast<size_t>(output.byte_size));
}

std::string Operands::Compare(const vm::Kernel& kernel,
                              const Status& status) const {
  const std::vector<const void*> inputs = DataOf(inputs_);
  const std::vector<const void*> want = DataOf(expected_);
  const std::vector<const void*> got = DataOf(outputs_);
  const std::vector<int> shared(outputs_.size(), -1);
  const Status ok;
  return jit::Compare({.dispatch = *request_.dispatch,
                       .kernel = kernel,
                       .parameters = request_.parameters,
                       .target = request_.target,
                       .constant_inputs = request_.constant_inputs,
                       .inputs = inputs,
                       .want = want,
                       .got = got,
                       .shared = shared,
                       .want_status = ok,
                       .got_status = status},
                      kMaxSteps)
      .difference;
}

}  // namespace ember::tune
