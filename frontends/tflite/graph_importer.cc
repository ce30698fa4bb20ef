#include "frontends/tflite/graph_importer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/one_line.h"
#include "base/shortened.h"
#include "frontends/ops/complex_edges.h"
#include "frontends/tflite/constants.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

std::string LogicalType(const schema::Tensor& tensor) {
  if (tensor.type() == schema::TensorType::STRING) return "string";
  if (tensor.type() == schema::TensorType::INT4) return "i4";
  return "";
}

// True for operators that may leave operands out in the middle of the list.
// They check for themselves that the operands that they need are present.
bool MayLeaveOut(schema::BuiltinOperator code) {
  switch (code) {
    case schema::BuiltinOperator::LSTM:
    case schema::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM:
    case schema::BuiltinOperator::BIDIRECTIONAL_SEQUENCE_LSTM:
    case schema::BuiltinOperator::BIDIRECTIONAL_SEQUENCE_RNN:
    case schema::BuiltinOperator::SVDF:
      return true;
    default:
      return false;
  }
}

// Returns the quantization of a tensor if its elements are integers of up to 16
// bits; else nullopt, as operators use no other quantization.
std::optional<Quantization> StoredQuantization(const schema::Tensor& tensor) {
  const std::optional<DType> dtype = DTypeOf(tensor.type());
  if (!dtype || !IsStoredType(*dtype)) return std::nullopt;
  return QuantizationOf(tensor);
}

}  // namespace

GraphImporter::GraphImporter(std::shared_ptr<const Model> model,
                             const Entry& entry,
                             const frontends::ImportOptions& options,
                             frontends::ImportSteps& steps, bool fixed)
    : model_(std::move(model)),
      entry_(entry),
      options_(options),
      steps_(steps),
      fixed_(fixed),
      builder_("main", options.operation_limit) {
  for (const EntryTensor& input : entry.inputs) names_.Reserve(input.name);
  for (const EntryTensor& output : entry.outputs) names_.Reserve(output.name);
}

StatusOr<graph::Graph> GraphImporter::Import() {
  // Expects the operators of the entry's subgraph. The number grows when they
  // call other subgraphs.
  steps_.StartOver();
  steps_.Expect(model_->OperatorsOf(entry_.subgraph).size());
  Scope scope;
  scope.subgraph = entry_.subgraph;
  scope.builder = &builder_;
  EMBER_RETURN_IF_ERROR(AddInputs(scope));
  EMBER_RETURN_IF_ERROR(AddState(scope));
  EMBER_RETURN_IF_ERROR(ImportOperators(scope));
  EMBER_RETURN_IF_ERROR(AddOutputs(scope));
  return builder_.Finish();
}

StatusOr<frontends::ModelInput> GraphImporter::InputOf(
    const EntryTensor& input) const {
  const schema::Tensor& tensor = model_->tensor(entry_.subgraph, input.tensor);
  const bool is_complex = tensor.type() == schema::TensorType::COMPLEX64;
  const std::optional<DType> dtype =
      is_complex ? DType::kF32 : DTypeOf(tensor.type());
  if (!dtype) {
    return UnimplementedError("input '" + input.name + "': type " +
                              TypeName(tensor.type()) + " is not supported");
  }
  frontends::ModelInput model_input{.name = input.name,
                                    .dtype = *dtype,
                                    .dims = {},
                                    .logical_type = LogicalType(tensor)};
  const auto stated = SpanOf(tensor.shape());
  const auto signature = SpanOf(tensor.shape_signature());
  // An empty shape in the file is ambiguous: the tensor may be a scalar, or its
  // rank may be unknown. If the user gives the input's shape or value, that
  // decides.
  const bool pinned = options_.input_shapes.contains(input.name) ||
                      options_.input_values.contains(input.name);
  if (stated.empty() && !tensor.has_rank() && pinned) return model_input;
  std::vector<frontends::ModelDim>& dims = model_input.dims.emplace();
  for (size_t i = 0; i < stated.size(); ++i) {
    const bool open = !signature.empty() && signature[i] < 0;
    // Without a shape_signature, the file's shape is the one with which the
    // model was converted. The user may give another one, because TensorFlow
    // Lite's interpreter can resize such inputs, too.
    dims.push_back(
        open && !fixed_
            ? frontends::OpenDim(input.name, i)
            : frontends::ModelDim{.extent = stated[i],
                                  .may_differ = open || signature.empty()});
  }
  if (is_complex) dims.push_back(frontends::ModelDim{.extent = 2});
  return model_input;
}

Status GraphImporter::AddInputs(Scope& scope) {
  std::vector<frontends::ModelInput> inputs;
  for (const EntryTensor& input : entry_.inputs) {
    EMBER_ASSIGN_OR_RETURN(inputs.emplace_back(), InputOf(input));
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, options_, builder_));
  for (size_t i = 0; i < values.size(); ++i) {
    const int tensor = entry_.inputs[i].tensor;
    const Tensor value(&builder_, values[i]);
    const bool is_complex = model_->tensor(entry_.subgraph, tensor).type() ==
                            schema::TensorType::COMPLEX64;
    scope.values[tensor] = is_complex ? ops::PartOf(value, 0) : value;
    if (is_complex) scope.imaginaries[tensor] = ops::PartOf(value, 1);
  }
  return builder_.status();
}

StatusOr<Tensor> GraphImporter::StateInput(const std::string& name, DType dtype,
                                           const Shape& shape) {
  const std::string unique =
      name.empty() ? names_.TakeNumbered("state") : names_.Take(name);
  const Tensor value(&builder_,
                     builder_.Input(unique, {dtype, shape},
                                    std::string(frontends::kStateType)));
  EMBER_RETURN_IF_ERROR(builder_.status());
  states_.push_back({unique, value});
  return value;
}

Status GraphImporter::AddState(Scope& scope) {
  const schema::SubGraph& graph = model_->subgraph(scope.subgraph);
  const int count = graph.tensors() == nullptr
                        ? 0
                        : static_cast<int>(graph.tensors()->size());
  for (int i = 0; i < count; ++i) {
    const schema::Tensor& tensor = model_->tensor(scope.subgraph, i);
    if (!tensor.is_variable() || scope.values.contains(i)) continue;
    const std::optional<DType> dtype = DTypeOf(tensor.type());
    if (!dtype) {
      return UnimplementedError("variable '" + NameOfTensor(tensor) +
                                "': type " + TypeName(tensor.type()) +
                                " is not supported");
    }
    Shape shape;
    for (const int32_t dim : SpanOf(tensor.shape())) shape.push_back(Dim(dim));
    EMBER_ASSIGN_OR_RETURN(scope.values[i],
                           StateInput(NameOfTensor(tensor), *dtype, shape));
    variable_tensors_[i] = states_.back().name;
  }
  return AddResources();
}

Status GraphImporter::AddOutputs(Scope& scope) {
  for (const EntryTensor& output : entry_.outputs) {
    const auto operand = LookupOperand(output.tensor, scope);
    if (!operand.ok())
      return operand.status().WithContext("output '" + output.name + "'");
    const Tensor value =
        operand->imaginary
            ? ops::JoinedParts(operand->value, operand->imaginary)
            : operand->value;
    builder_.Output(
        output.name, value.value(),
        LogicalType(model_->tensor(entry_.subgraph, output.tensor)));
  }
  std::map<std::string, Tensor> last;
  for (const auto& [tensor, name] : variable_tensors_)
    last[name] = scope.values[tensor];
  for (const auto& [resource, name] : resource_states_) {
    EMBER_ASSIGN_OR_RETURN(last[name], Variable(resource, scope));
  }
  for (const auto& [subgraph, name] : once_)
    last[name] = Tensor(&builder_, builder_.Scalar(1, DType::kBool));
  for (const State& state : states_) {
    builder_.Output(state.name,
                    last.contains(state.name) ? last[state.name].value()
                                              : state.value.value(),
                    std::string(frontends::kStateType));
  }
  return builder_.status();
}

std::string GraphImporter::OriginOf(const schema::Operator& op,
                                    const Scope& scope) const {
  const auto outputs = SpanOf(op.outputs());
  std::string name;
  if (!outputs.empty()) {
    std::string_view all =
        ViewOf(model_->tensor(scope.subgraph, outputs[0]).name());
    // If a converter fused several operators into one, its name is the names of
    // all of them, joined. The last name is used.
    const std::string_view end =
        all.substr(all.size() - std::min(all.size(), kLongestName));
    const size_t last = end.rfind(';');
    if (last != std::string_view::npos && last + 1 < end.size())
      all = end.substr(last + 1);
    name = OnOneLine(Shortened(all, kLongestName));
  }
  if (name.empty()) name = "operator " + std::to_string(imported_operators_);
  return Shortened(scope.prefix + name + " (" + model_->NameOf(op) + ")",
                   kLongestOrigin);
}

StatusOr<OperatorContext::Operand> GraphImporter::LookupOperand(int tensor,
                                                                Scope& scope) {
  OperatorContext::Operand operand;
  if (tensor < 0) return operand;
  operand.info = &model_->tensor(scope.subgraph, tensor);
  const auto imaginary = scope.imaginaries.find(tensor);
  if (imaginary != scope.imaginaries.end()) {
    operand.value = scope.values[tensor];
    operand.imaginary = imaginary->second;
    return operand;
  }
  EMBER_ASSIGN_OR_RETURN(operand.value, Lookup(tensor, scope));
  EMBER_ASSIGN_OR_RETURN(operand.quantization, TakeQuantization(*operand.info));
  return operand;
}

StatusOr<Tensor> GraphImporter::Lookup(int tensor, Scope& scope) {
  if (scope.imaginaries.contains(tensor)) {
    return UnimplementedError(
        "tensor '" + NameOfTensor(model_->tensor(scope.subgraph, tensor)) +
        "': complex numbers are not supported as what subgraphs are handed: "
        "take their parts (REAL, IMAG)");
  }
  const auto found = scope.values.find(tensor);
  if (found != scope.values.end()) return found->second;
  const schema::Tensor& info = model_->tensor(scope.subgraph, tensor);
  if (!model_->IsConstant(info)) {
    const auto shape = SpanOf(info.shape());
    // A constant with an extent of 0 has no bytes in the file, so IsConstant is
    // false for it, but it is no error.
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (!empty || info.type() == schema::TensorType::RESOURCE) {
      return DataLossError("tensor '" + NameOfTensor(info) +
                           "': expected a constant, an input or the result of "
                           "an operator before it, found none");
    }
  }
  StatusOr<Tensor> constant =
      ConstantTensor(*model_, info, unpacked_, *scope.builder);
  if (!constant.ok()) {
    return constant.status().WithContext("tensor '" + NameOfTensor(info) + "'");
  }
  scope.values[tensor] = *constant;
  return *constant;
}

Status GraphImporter::TakeOperands(int64_t count) {
  imported_operands_ += count;
  if (imported_operands_ <= kMaxOperands) return OkStatus();
  return ResourceExhaustedError(
      "expected operators with at most " + std::to_string(kMaxOperands) +
      " operands and results and scales of them, each call of a subgraph "
      "counted");
}

StatusOr<std::optional<Quantization>> GraphImporter::TakeQuantization(
    const schema::Tensor& tensor) {
  const schema::QuantizationParameters* parameters = tensor.quantization();
  if (parameters != nullptr && parameters->scale() != nullptr)
    EMBER_RETURN_IF_ERROR(TakeOperands(parameters->scale()->size()));
  return StoredQuantization(tensor);
}

Status GraphImporter::ImportOperators(Scope& scope) {
  for (const schema::Operator* op : model_->OperatorsOf(scope.subgraph))
    EMBER_RETURN_IF_ERROR(ImportOperator(*op, scope));
  return OkStatus();
}

Status GraphImporter::ImportOperator(const schema::Operator& op, Scope& scope) {
  if (++imported_operators_ > kMaxOperators) {
    return ResourceExhaustedError(
        "expected at most " + std::to_string(kMaxOperators) +
        " operators, each call of a subgraph counted");
  }
  EMBER_RETURN_IF_ERROR(steps_.Begin(model_->NameOf(op)));
  const std::string origin = OriginOf(op, scope);
  scope.builder->SetOrigin(origin);
  const OperatorRow* row = FindRow(*model_, op);
  if (row == nullptr || !row->reason.empty())
    return UnimplementedError("unsupported operator " + model_->NameOf(op));
  const auto in = SpanOf(op.inputs());
  const auto out = SpanOf(op.outputs());
  EMBER_RETURN_IF_ERROR(
      TakeOperands(static_cast<int64_t>(in.size() + out.size())));
  size_t given = in.size();
  while (given > 0 && in[given - 1] < 0) --given;
  if (static_cast<int>(in.size()) < row->minimum_inputs ||
      static_cast<int>(given) > row->maximum_inputs) {
    return DataLossError("node '" + origin + "': expected " +
                         std::to_string(row->minimum_inputs) + " to " +
                         std::to_string(row->maximum_inputs) +
                         " inputs, found " + std::to_string(in.size()));
  }
  const size_t required = row->maximum_inputs == kManyInputs ? in.size()
                          : MayLeaveOut(model_->CodeOf(op))
                              ? 0
                              : static_cast<size_t>(row->minimum_inputs);
  for (size_t i = 0; i < required; ++i) {
    if (in[i] >= 0) continue;
    return DataLossError("node '" + origin + "': expected input " +
                         std::to_string(i) + ", found it left out");
  }
  if (row->import == nullptr) {
    const Status status = ImportControl(op, scope);
    return status.ok() ? scope.builder->status()
                       : status.WithContext("node '" + origin + "'");
  }
  std::vector<OperatorContext::Operand> inputs;
  for (const int32_t tensor : in) {
    StatusOr<OperatorContext::Operand> operand = LookupOperand(tensor, scope);
    if (!operand.ok())
      return operand.status().WithContext("node '" + origin + "'");
    inputs.push_back(*std::move(operand));
  }
  std::vector<OperatorContext::Result> outputs;
  for (const int32_t tensor : out) {
    OperatorContext::Result result;
    result.info = &model_->tensor(scope.subgraph, tensor);
    EMBER_ASSIGN_OR_RETURN(result.quantization, TakeQuantization(*result.info));
    outputs.push_back(std::move(result));
  }
  // Results of an operator that only moves elements have the quantization of
  // its first quantized operand.
  std::optional<Quantization> moved;
  for (const OperatorContext::Operand& operand : inputs)
    if (operand.quantization && !moved) moved = operand.quantization;
  OperatorContext c(*scope.builder, *model_, op, std::move(inputs),
                    std::move(outputs));
  if (row->quantized == Quantized::kReal) c.DequantizeOperands();
  const bool is_complex = c.AnyComplex();
  if (is_complex && !row->complex_numbers) {
    return UnimplementedError("node '" + origin +
                              "': complex numbers are not supported here");
  }
  row->import(c);
  // For complex operands, an operator that acts on real and imaginary parts
  // alike is imported twice: above for the real parts, and here for the
  // imaginary parts.
  if (is_complex && row->complex_numbers == ComplexNumbers::kByParts &&
      scope.builder->status().ok()) {
    std::vector<Tensor> real;
    for (const OperatorContext::Result& result : c.outputs())
      real.push_back(result.value);
    c.TakeImaginaryParts();
    row->import(c);
    for (size_t i = 0; i < real.size(); ++i)
      c.SetComplexOutput(static_cast<int>(i), real[i], c.outputs()[i].value);
  }
  EMBER_RETURN_IF_ERROR(scope.builder->status());
  return SetResults(c, *row, moved, scope);
}

Status GraphImporter::SetResults(const OperatorContext& c,
                                 const OperatorRow& row,
                                 const std::optional<Quantization>& moved,
                                 Scope& scope) {
  const auto out = SpanOf(c.op().outputs());
  for (size_t i = 0; i < out.size(); ++i) {
    const OperatorContext::Result& result = c.outputs()[i];
    Tensor value = result.value;
    if (!value) continue;
    const DType type = c.OutputType(static_cast<int>(i));
    if (result.quantization && row.quantized == Quantized::kReal &&
        value.is_float()) {
      value = QuantizeToStored(value, *result.quantization, type);
    } else if (result.quantization && moved &&
               row.quantized == Quantized::kStored && value.dtype() == type &&
               *moved != *result.quantization) {
      value = Requantized(value, *moved, *result.quantization, type);
    }
    EMBER_RETURN_IF_ERROR(scope.builder->status());
    const std::optional<DType> expected = DTypeOf(result.info->type());
    if (expected && value.dtype() != *expected) {
      return DataLossError(
          "node '" + scope.builder->origin() + "': expected a result of type " +
          std::string(DTypeName(*expected)) + ", as the model says, found " +
          std::string(DTypeName(value.dtype())));
    }
    if (value.value()->name().empty())
      value.value()->set_name(
          OnOneLine(Shortened(ViewOf(result.info->name()), kLongestName)));
    scope.values[out[i]] = value;
    if (result.imaginary) scope.imaginaries[out[i]] = result.imaginary;
  }
  // An operator that keeps state changes a variable operand in place, so the
  // variable gets the new value.
  for (const auto& [input, value] : c.changed_inputs()) {
    const auto in = SpanOf(c.op().inputs());
    const int32_t tensor = in[static_cast<size_t>(input)];
    if (tensor < 0 || !value) continue;
    const schema::Tensor& info = model_->tensor(scope.subgraph, tensor);
    const std::optional<Quantization> q = StoredQuantization(info);
    const DType type = DTypeOf(info.type()).value_or(DType::kF32);
    scope.values[tensor] =
        q && value.is_float() ? QuantizeToStored(value, *q, type) : value;
    EMBER_RETURN_IF_ERROR(scope.builder->status());
  }
  return OkStatus();
}

}  // namespace ember::tflite
