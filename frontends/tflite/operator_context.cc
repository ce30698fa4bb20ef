#include "frontends/tflite/operator_context.h"

#include <algorithm>
#include <utility>

#include "frontends/tflite/quantized.h"

namespace ember::tflite {

const void* EmptyTable() {
  // The builder, which owns the table, is never destroyed. Leak checkers accept
  // this, because the static pointer refers to it.
  static const auto* const kBuilder = [] {
    auto* builder = new flatbuffers::FlatBufferBuilder;
    builder->Finish(schema::CreateNoOptions(*builder));
    return builder;
  }();
  return flatbuffers::GetRoot<schema::NoOptions>(kBuilder->GetBufferPointer());
}

OperatorContext::OperatorContext(graph::GraphBuilder& builder,
                                 const Model& model, const schema::Operator& op,
                                 std::vector<Operand> inputs,
                                 std::vector<Result> outputs)
    : OperatorBase(builder),
      model_(model),
      op_(op),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)) {}

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

bool OperatorContext::AnyComplex() const {
  for (const Operand& input : inputs_)
    if (input.imaginary) return true;
  return false;
}

void OperatorContext::TakeImaginaryParts() {
  for (Operand& input : inputs_) {
    if (!input.imaginary) continue;
    input.value = input.imaginary;
    input.imaginary = Tensor();
  }
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

}  // namespace ember::tflite
