#include "frontends/tflite/operator_context.h"

#include <algorithm>
#include <utility>

#include "frontends/ops/errors.h"
#include "frontends/ops/quantization.h"
#include "frontends/ops/ranks.h"
#include "frontends/ops/windows.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {

const void* EmptyTable() {
  static const auto* const kTable = [] {
    auto* builder = new flatbuffers::FlatBufferBuilder;
    builder->Finish(schema::CreateNoOptions(*builder));
    return flatbuffers::GetRoot<schema::NoOptions>(builder->GetBufferPointer());
  }();
  return kTable;
}

OperatorContext::OperatorContext(graph::GraphBuilder& builder,
                                 const Model& model, const schema::Operator& op,
                                 std::vector<Operand> inputs,
                                 std::vector<Result> outputs)
    : builder_(builder),
      model_(model),
      op_(op),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {}

void OperatorContext::FailInvalid(std::string message) {
  ops::FailInvalid(builder_, std::move(message));
}
void OperatorContext::FailUnsupported(std::string message) {
  ops::FailUnsupported(builder_, std::move(message));
}

const Quantization* OperatorContext::InputQuantization(int index) const {
  if (index >= input_count() || !inputs_[index].quantization) return nullptr;
  return &*inputs_[index].quantization;
}

const Quantization* OperatorContext::OutputQuantization(int index) const {
  if (index >= output_count() || !outputs_[index].quantization) return nullptr;
  return &*outputs_[index].quantization;
}

bool OperatorContext::AnyQuantized() const {
  const auto quantized = [](const auto& value) {
    return value.quantization.has_value();
  };
  return std::any_of(inputs_.begin(), inputs_.end(), quantized) ||
         std::any_of(outputs_.begin(), outputs_.end(), quantized);
}

void OperatorContext::DequantizeOperands() {
  for (Operand& input : inputs_) {
    if (!input.quantization || !input.value) continue;
    input.value = DequantizeStored(input.value, *input.quantization);
    input.quantization.reset();
  }
}

DType OperatorContext::OutputType(int index) const {
  if (index >= output_count()) return DType::kF32;
  return DTypeOf(outputs_[index].info->type()).value_or(DType::kF32);
}

std::vector<int64_t> OperatorContext::StatedOutputShape(int index) const {
  if (index >= output_count()) return {};
  const auto shape = SpanOf(outputs_[index].info->shape());
  return {shape.begin(), shape.end()};
}

double OperatorContext::StoredZero(int index) const {
  const Quantization* q = InputQuantization(index);
  return q == nullptr ? 0 : static_cast<double>(q->zero_point());
}

std::string OperatorContext::Named(int input, std::string_view what) const {
  return std::string(what) + " (input " + std::to_string(input) + ")";
}

std::optional<Shape> OperatorContext::Contents(int input,
                                               std::string_view what) {
  if (!ok()) return std::nullopt;
  if (!Input(input)) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  std::optional<Shape> contents =
      builder_.IntegerContents(Input(input).value());
  if (!contents) {
    FailUnsupported(
        Named(input, what) +
        " depends on the model's data: it must be known when compiling");
  }
  return contents;
}

std::optional<std::vector<int64_t>> OperatorContext::ConstantIntegers(
    int input, std::string_view what) {
  const std::optional<Shape> contents = Contents(input, what);
  if (!contents) return std::nullopt;
  std::optional<std::vector<int64_t>> constants = AsConstants(*contents);
  if (!constants) {
    FailUnsupported(Named(input, what) + ": expected constants, found " +
                    graph::ShapeToString(*contents));
  }
  return constants;
}

std::optional<Shape> OperatorContext::Sizes(int input, std::string_view what) {
  if (!ok()) return std::nullopt;
  Tensor values = Input(input);
  if (!values) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  if (values.rank() > 1 || values.is_float()) {
    FailInvalid(Named(input, what) +
                ": expected integers in one dim, found type " +
                graph::ToString(values.value()->type()));
    return std::nullopt;
  }
  if (values.rank() == 0) values = Reshape(values, {Dim(1)});
  Shape sizes = builder_.Extents(values.value());
  if (!ok()) return std::nullopt;
  return sizes;
}

std::optional<std::vector<double>> OperatorContext::ConstantNumbers(
    int input, std::string_view what) {
  if (!ok()) return std::nullopt;
  if (!Input(input)) {
    FailInvalid("missing " + Named(input, what));
    return std::nullopt;
  }
  std::optional<std::vector<double>> contents =
      builder_.ConstantContents(Input(input).value());
  if (!contents) {
    FailUnsupported(
        Named(input, what) +
        " depends on the model's data: it must be known when compiling");
  }
  return contents;
}

int OperatorContext::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank)
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  FailInvalid("axis: expected a value in [" + std::to_string(-rank) + ", " +
              std::to_string(rank - 1) + "], found " + std::to_string(axis));
  return 0;
}

std::vector<int64_t> OperatorContext::Axes(const std::vector<int64_t>& axes,
                                           int rank) {
  std::vector<int64_t> normalized;
  for (const int64_t axis : axes) {
    const int64_t value = Axis(axis, rank);
    if (!ok()) return {};
    // TensorFlow takes an axis that is named twice as if it were once.
    if (std::find(normalized.begin(), normalized.end(), value) ==
        normalized.end())
      normalized.push_back(value);
  }
  std::sort(normalized.begin(), normalized.end());
  return normalized;
}

bool OperatorContext::CheckRank(int input, int minimum, int maximum) {
  if (!ok()) return false;
  if (!Input(input)) {
    FailInvalid("expected input " + std::to_string(input) + ", found none");
    return false;
  }
  const std::string fault = ops::FindRankFault(Input(input), minimum, maximum);
  if (fault.empty()) return true;
  FailInvalid("input " + std::to_string(input) + ": " + fault);
  return false;
}

bool OperatorContext::CheckPositive(std::string_view what, int64_t value) {
  if (value >= 1 && value <= ops::kMaximumWindow) return ok();
  FailInvalid(std::string(what) + ": expected a value in [1, " +
              std::to_string(ops::kMaximumWindow) + "], found " +
              std::to_string(value));
  return false;
}

}  // namespace ember::tflite
