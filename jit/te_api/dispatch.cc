// Dispatches of the C API for kernels: parsing, printing, their buffers, and
// the scalar evaluator.
#include <cstddef>
#include <utility>

#include "base/dtype.h"
#include "jit/te_api/objects.h"
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
  // If the dispatch has no parameters, the sizes of its buffers and stages are
  // known here, so errors in them are reported at once.
  if (dispatch.parameters.empty()) {
    EMBER_RETURN_IF_ERROR(
        tensor::ConcreteHeader::Evaluate(dispatch, {}).status());
  }
  data->text = tensor::Print(dispatch);
  for (const tensor::Buffer& buffer : dispatch.buffers)
    data->dims.push_back(DimsOf(dispatch, buffer));
  return new EmberTeDispatch{std::move(data)};
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
