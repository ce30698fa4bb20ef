// Calls of the C API for kernels: checks that the buffers of a call fit its
// dispatch.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/dtype.h"
#include "jit/te_api/objects.h"
#include "tensor/dispatch_cost.h"

namespace ember::te_api {
namespace {

constexpr size_t kLeastCall =
    offsetof(EmberTeCall, stop) + sizeof(EmberTeStop*);

std::string TextOf(std::span<const int64_t> dims) {
  std::string text = "[";
  for (const int64_t dim : dims)
    text += Concat({text.size() > 1 ? ", " : "", dim});
  return text + "]";
}

Status InputError(const tensor::Buffer& buffer, std::string_view expected,
                  std::string_view found) {
  return InvalidArgumentError(Concat(
      {"input ", buffer.name, ": expected ", expected, ", found ", found}));
}

Status CheckForm(const tensor::Buffer& buffer, const EmberTensor& input) {
  if (input.type != static_cast<EmberType>(buffer.type)) {
    const bool is_type = input.type >= 0 && input.type < kDTypeCount;
    return InputError(
        buffer, DTypeName(buffer.type),
        is_type ? DTypeName(static_cast<DType>(input.type)) : "no type");
  }
  const auto rank = static_cast<int32_t>(buffer.extents.size());
  if (input.rank != rank || (rank > 0 && input.dims == nullptr)) {
    return InputError(buffer, Concat({"a tensor of rank ", rank}),
                      Concat({"rank ", input.rank}));
  }
  return OkStatus();
}

// Returns the values of the dispatch's parameters: each is read from an input's
// dim that is this parameter.
StatusOr<std::vector<int64_t>> ParametersOf(const tensor::Dispatch& dispatch,
                                            const EmberTeCall& call) {
  std::vector<std::optional<int64_t>> found(dispatch.parameters.size());
  for (int32_t i = 0; i < call.input_count; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[static_cast<size_t>(i)];
    EMBER_RETURN_IF_ERROR(CheckForm(buffer, call.inputs[i]));
    for (size_t k = 0; k < buffer.extents.size(); ++k) {
      const tensor::Instruction& made =
          dispatch.instructions[buffer.extents[k]];
      if (made.opcode != tensor::Opcode::kParameter) continue;
      auto& parameter = found[made.immediate];
      if (!parameter) parameter = call.inputs[i].dims[k];
    }
  }
  std::vector<int64_t> parameters;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) {
      return InvalidArgumentError(
          Concat({"dispatch @", dispatch.name,
                  ": expected an input whose dim "
                  "is the parameter ",
                  dispatch.parameters[i], ", found none"}));
    }
    parameters.push_back(*found[i]);
  }
  return parameters;
}

// Returns the number of bytes of a buffer. It cannot overflow, because
// ConcreteHeader limits the size.
size_t BytesOf(const tensor::Buffer& buffer,
               const tensor::ConcreteHeader& header) {
  return static_cast<size_t>(header.ElementCount(buffer)) *
         static_cast<size_t>(DTypeByteSize(buffer.type));
}

bool Overlaps(const void* a, size_t a_size, const void* b, size_t b_size) {
  const auto first = reinterpret_cast<uintptr_t>(a);
  const auto second = reinterpret_cast<uintptr_t>(b);
  return first < second + b_size && second < first + a_size;
}

// Checks the outputs of a call, and adds them to the call's buffers.
Status AddOutputs(const tensor::Dispatch& dispatch, const EmberTeCall& call,
                  BoundCall& bound) {
  const uint32_t inputs = dispatch.input_count();
  const uint32_t outputs = dispatch.output_count();
  if (call.output_count != static_cast<int32_t>(outputs) ||
      (outputs > 0 &&
       (call.outputs == nullptr || call.output_sizes == nullptr))) {
    return InvalidArgumentError(
        Concat({"dispatch @", dispatch.name, ": expected ", outputs,
                " outputs, found ", call.output_count}));
  }
  for (uint32_t i = 0; i < outputs; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[inputs + i];
    const size_t size = BytesOf(buffer, bound.header);
    if (call.output_sizes[i] != size ||
        (size > 0 && call.outputs[i] == nullptr)) {
      return InvalidArgumentError(
          Concat({"output ", buffer.name, ": expected ", size, " bytes, found ",
                  call.output_sizes[i]}));
    }
    for (size_t k = 0; k < bound.buffers.size(); ++k) {
      const size_t other = BytesOf(dispatch.buffers[k], bound.header);
      if (!Overlaps(call.outputs[i], size, bound.buffers[k], other)) continue;
      return InvalidArgumentError(
          Concat({"output ", buffer.name,
                  ": expected memory of its own, found that of ",
                  dispatch.buffers[k].name}));
    }
    bound.buffers.push_back(call.outputs[i]);
  }
  return OkStatus();
}

}  // namespace

StatusOr<BoundCall> BindInputs(const tensor::Dispatch& dispatch,
                               const EmberTeCall& given) {
  EMBER_ASSIGN_OR_RETURN(const EmberTeCall call,
                         Read(given, kLeastCall, "call"));
  const uint32_t inputs = dispatch.input_count();
  if (call.input_count != static_cast<int32_t>(inputs) ||
      (inputs > 0 && call.inputs == nullptr)) {
    return InvalidArgumentError(
        Concat({"dispatch @", dispatch.name, ": expected ", inputs,
                " inputs, found ", call.input_count}));
  }
  EMBER_ASSIGN_OR_RETURN(std::vector<int64_t> parameters,
                         ParametersOf(dispatch, call));
  EMBER_ASSIGN_OR_RETURN(
      tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, parameters));
  BoundCall bound{std::move(parameters), std::move(header), {}, nullptr, 0};
  if (call.stop != nullptr) {
    bound.interrupt = &call.stop->interrupt;
    bound.points = tensor::PointsOf(dispatch, bound.header);
  }
  for (uint32_t i = 0; i < inputs; ++i) {
    const tensor::Buffer& buffer = dispatch.buffers[i];
    const EmberTensor& input = call.inputs[i];
    const std::vector<int64_t> extents = bound.header.Extents(buffer);
    const std::span<const int64_t> dims(input.dims, extents.size());
    if (!std::equal(dims.begin(), dims.end(), extents.begin()))
      return InputError(buffer, TextOf(extents), TextOf(dims));
    const size_t size = BytesOf(buffer, bound.header);
    if (input.byte_size != size || (size > 0 && input.data == nullptr)) {
      return InputError(buffer, Concat({size, " bytes"}),
                        Concat({input.byte_size, " bytes"}));
    }
    // A kernel never writes to its inputs, so the cast is safe.
    bound.buffers.push_back(const_cast<void*>(input.data));
  }
  return bound;
}

StatusOr<BoundCall> Bind(const tensor::Dispatch& dispatch,
                         const EmberTeCall& call) {
  EMBER_ASSIGN_OR_RETURN(BoundCall bound, BindInputs(dispatch, call));
  EMBER_RETURN_IF_ERROR(AddOutputs(dispatch, call, bound));
  return bound;
}

}  // namespace ember::te_api
