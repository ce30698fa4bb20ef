// Dispatches of the C API for kernels: texts, buffers, calls, the evaluator.
#include <cstddef>
#include <optional>
#include <utility>

#include "base/dtype.h"
#include "jit/te_api/objects.h"
#include "tensor/dispatch_cost.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/notation/notation.h"
#include "tensor/text/text.h"

namespace ember::te_api {
namespace {

using tensor::BufferKind;

static_assert(EMBER_F8E5M2 + 1 == kDTypeCount, "EmberType has all types");
static_assert(static_cast<int>(BufferKind::kInput) == EMBER_TE_INPUT);
static_assert(static_cast<int>(BufferKind::kOutput) == EMBER_TE_OUTPUT);
static_assert(static_cast<int>(BufferKind::kTemporary) == EMBER_TE_TEMPORARY);

constexpr int32_t kMaxRank = 64;
constexpr size_t kLeastParseOptions =
    offsetof(EmberTeParseOptions, input_count) + sizeof(size_t);
constexpr size_t kLeastCall =
    offsetof(EmberTeCall, stop) + sizeof(EmberTeStop*);

StatusOr<tensor::NotationInput> InputOf(const EmberTeInput& given) {
  if (given.name == nullptr)
    return InvalidArgumentError("input: expected a name, found NULL");
  tensor::NotationInput input;
  input.name = given.name;
  const auto error = [&](std::string_view expected, int64_t found) {
    return InvalidArgumentError(Concat(
        {"input ", input.name, ": expected ", expected, ", found ", found}));
  };
  if (given.type < 0 || given.type >= kDTypeCount)
    return error("a type of EmberType", given.type);
  if (given.rank < 0 || given.rank > kMaxRank ||
      (given.rank > 0 && given.dims == nullptr)) {
    return error("a rank from 0 to 64 and dims", given.rank);
  }
  input.type = static_cast<DType>(given.type);
  for (int32_t i = 0; i < given.rank; ++i) {
    const EmberTeDim& dim = given.dims[i];
    if (dim.name != nullptr && *dim.name == '\0')
      return error("a name of the dim, or NULL", i);
    input.dims.push_back({dim.extent, dim.name == nullptr ? "" : dim.name});
  }
  return input;
}

StatusOr<tensor::Dispatch> ParseText(const EmberTeParseOptions& options) {
  const std::string_view text(options.text == nullptr ? "" : options.text,
                              options.text == nullptr ? 0 : options.text_size);
  if (options.form == EMBER_TE_DISPATCH) {
    if (options.input_count == 0 && options.name == nullptr)
      return tensor::Parse(text);
    return InvalidArgumentError(
        "expected no inputs and no name for the text of a dispatch, which has "
        "them");
  }
  if (options.form != EMBER_TE_NOTATION) {
    return InvalidArgumentError(
        Concat({"form: expected a value of EmberTeForm, found ",
                static_cast<int>(options.form)}));
  }
  if (options.input_count > 0 && options.inputs == nullptr)
    return InvalidArgumentError("inputs: expected an array, found NULL");
  std::vector<tensor::NotationInput> inputs;
  for (size_t i = 0; i < options.input_count; ++i) {
    EMBER_ASSIGN_OR_RETURN(tensor::NotationInput input,
                           InputOf(options.inputs[i]));
    inputs.push_back(std::move(input));
  }
  return tensor::ParseNotation(text, inputs,
                               options.name == nullptr ? "" : options.name);
}

std::vector<int64_t> DimsOf(const tensor::Dispatch& dispatch,
                            const tensor::Buffer& buffer) {
  std::vector<int64_t> dims;
  for (const tensor::Register extent : buffer.extents) {
    const tensor::Instruction& made = dispatch.instructions[extent];
    const bool is_constant = made.opcode == tensor::Opcode::kConstant;
    dims.push_back(is_constant ? static_cast<int64_t>(made.immediate) : -1);
  }
  return dims;
}

StatusOr<EmberTeDispatch*> Parse(const EmberTeParseOptions& given) {
  EMBER_ASSIGN_OR_RETURN(const EmberTeParseOptions options,
                         Read(given, kLeastParseOptions, "options"));
  auto data = std::make_shared<DispatchData>();
  EMBER_ASSIGN_OR_RETURN(data->dispatch, ParseText(options));
  const tensor::Dispatch& dispatch = data->dispatch;
  // Without parameters, the sizes of buffers and stages are checked now.
  if (dispatch.parameters.empty()) {
    EMBER_RETURN_IF_ERROR(
        tensor::ConcreteHeader::Evaluate(dispatch, {}).status());
  }
  data->text = tensor::Print(dispatch);
  for (const tensor::Buffer& buffer : dispatch.buffers)
    data->dims.push_back(DimsOf(dispatch, buffer));
  return new EmberTeDispatch{std::move(data)};
}

// --- calls ---

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

// Finds the parameters in dims that are parameters.
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

// Returns the number of bytes of a buffer; its size has been limited.
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

// Checks the outputs of a call, and adds them to its buffers.
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

Status OutputDims(const tensor::Dispatch& dispatch, const EmberTeCall& call,
                  int32_t output, int64_t* dims) {
  if (output < 0 || output >= static_cast<int32_t>(dispatch.output_count())) {
    return NotFoundError(Concat({"output: expected a number below ",
                                 dispatch.output_count(), ", found ", output}));
  }
  EMBER_ASSIGN_OR_RETURN(const BoundCall bound, BindInputs(dispatch, call));
  const std::vector<int64_t> extents = bound.header.Extents(
      dispatch.buffers[dispatch.input_count() + static_cast<size_t>(output)]);
  std::copy(extents.begin(), extents.end(), dims);
  return OkStatus();
}

Status Evaluate(const tensor::Dispatch& dispatch, const EmberTeCall& call,
                bool in_f64) {
  EMBER_ASSIGN_OR_RETURN(const BoundCall bound, Bind(dispatch, call));
  EMBER_RETURN_IF_ERROR(tensor::EvaluateFor(dispatch, bound.header,
                                            bound.buffers,
                                            {.accumulate_in_f64 = in_f64,
                                             .temporaries = {},
                                             .interrupt = bound.interrupt}));
  return bound.interrupt == nullptr ? OkStatus() : bound.interrupt->status();
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
    // Kernels only read inputs.
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

// --- the functions of the table ---

EmberStatus DispatchParse(const EmberTeParseOptions* options,
                          EmberTeDispatch** dispatch) {
  if (dispatch != nullptr) *dispatch = nullptr;
  if (options == nullptr || dispatch == nullptr)
    return ReportNull("dispatch_parse");
  const auto parsed = Parse(*options);
  if (!parsed.ok()) return Report(parsed.status());
  *dispatch = *parsed;
  return EMBER_OK;
}

void DispatchRelease(EmberTeDispatch* dispatch) { delete dispatch; }

const char* DispatchName(const EmberTeDispatch* dispatch) {
  return dispatch == nullptr ? "" : dispatch->data->dispatch.name.c_str();
}

const char* DispatchText(const EmberTeDispatch* dispatch) {
  return dispatch == nullptr ? "" : dispatch->data->text.c_str();
}

EmberStatus DispatchBuffer(const EmberTeDispatch* dispatch, int32_t index,
                           EmberTeBufferInfo* info) {
  if (dispatch == nullptr || info == nullptr)
    return ReportNull("dispatch_buffer");
  const auto& buffers = dispatch->data->dispatch.buffers;
  const auto at = static_cast<size_t>(index);
  if (index < 0 || at >= buffers.size()) {
    return Report(NotFoundError(Concat({"buffer: expected an index below ",
                                        buffers.size(), ", found ", index})));
  }
  const std::vector<int64_t>& dims = dispatch->data->dims[at];
  Fill<EmberTeBufferInfo>({sizeof(EmberTeBufferInfo), buffers[at].name.c_str(),
                           static_cast<EmberType>(buffers[at].type),
                           static_cast<EmberTeRole>(buffers[at].kind),
                           static_cast<int32_t>(dims.size()), dims.data()},
                          info);
  return EMBER_OK;
}

EmberStatus DispatchOutputDims(const EmberTeDispatch* dispatch,
                               const EmberTeCall* call, int32_t output,
                               int64_t* dims) {
  if (dispatch == nullptr || call == nullptr || dims == nullptr)
    return ReportNull("dispatch_output_dims");
  return Report(OutputDims(dispatch->data->dispatch, *call, output, dims));
}

EmberStatus DispatchEvaluate(const EmberTeDispatch* dispatch,
                             const EmberTeCall* call, int32_t in_f64) {
  if (dispatch == nullptr || call == nullptr)
    return ReportNull("dispatch_evaluate");
  return Report(Evaluate(dispatch->data->dispatch, *call, in_f64 != 0));
}

}  // namespace ember::te_api
