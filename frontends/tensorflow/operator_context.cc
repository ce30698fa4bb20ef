#include "frontends/tensorflow/operator_context.h"

#include <utility>

#include "base/one_line.h"
#include "frontends/ops/errors.h"
#include "frontends/tensorflow/data_types.h"

namespace ember::tensorflow {
namespace {

// Largest number of outputs of a split and similar operators.
constexpr int64_t kMaxOutputs = 1 << 16;

}  // namespace

const AttrValue* ResolveAttribute(const Node& node, std::string_view name,
                                  const AttributeMap* call) {
  const AttrValue* attribute = FindAttribute(node, name);
  if (attribute == nullptr ||
      attribute->value_case() != AttrValue::kPlaceholder)
    return attribute;
  if (call == nullptr) return nullptr;
  const auto found = call->find(attribute->placeholder());
  return found == call->end() ? nullptr : &found->second;
}

OperatorContext::OperatorContext(graph::GraphBuilder& builder, const Node& node,
                                 const AttributeMap* call,
                                 std::vector<Value> inputs, int outputs,
                                 std::shared_ptr<const void> owner)
    : OperatorBase(builder),
      node_(node),
      call_(call),
      inputs_(std::move(inputs)),
      outputs_(static_cast<size_t>(outputs)),
      owner_(std::move(owner)) {}

const Value& OperatorContext::InputValue(int index) const {
  static const auto* const kAbsent = new Value;
  return index >= 0 && index < input_count()
             ? inputs_[static_cast<size_t>(index)]
             : *kAbsent;
}

Tensor OperatorContext::Input(int index) const {
  const Value& value = InputValue(index);
  if (value.is_tensor() || index >= input_count()) return value.tensor;
  // The cast removes const only to report an error to the builder. The function
  // is const because reading an operand does not change the context.
  auto& builder = const_cast<OperatorContext*>(this)->builder();
  ops::FailUnsupported(builder,
                       "input " + std::to_string(index) +
                           ": expected a tensor, found " +
                           (value.imaginary ? "complex numbers"
                            : value.list    ? "a list of tensors"
                            : !value.resource.empty()
                                ? "variable '" + OnOneLine(value.resource) + "'"
                                : "nothing"));
  return {&builder, nullptr};
}

void OperatorContext::SetOutputCount(int64_t count) {
  if (count < 1 || count > kMaxOutputs) {
    return FailInvalid("expected 1 to " + std::to_string(kMaxOutputs) +
                       " results, found " + std::to_string(count));
  }
  outputs_.resize(static_cast<size_t>(count));
}

DType OperatorContext::OutputType(int index) const {
  const auto i = static_cast<size_t>(index);
  return i < output_types_.size() ? output_types_[i].value_or(DType::kF32)
                                  : DType::kF32;
}

void OperatorContext::SetOutputType(int index, DType dtype) {
  const auto i = static_cast<size_t>(index);
  if (output_types_.size() <= i) output_types_.resize(i + 1);
  output_types_[i] = dtype;
}

void OperatorContext::SetValue(int index, Value value) {
  if (index >= 0 && index < output_count())
    outputs_[static_cast<size_t>(index)] = std::move(value);
}

int64_t OperatorContext::Integer(std::string_view name,
                                 int64_t otherwise) const {
  const AttrValue* a = Attribute(name);
  return a != nullptr && a->value_case() == AttrValue::kI ? a->i() : otherwise;
}

double OperatorContext::Number(std::string_view name, double otherwise) const {
  const AttrValue* a = Attribute(name);
  return a != nullptr && a->value_case() == AttrValue::kF
             ? static_cast<double>(a->f())
             : otherwise;
}

bool OperatorContext::Flag(std::string_view name, bool otherwise) const {
  const AttrValue* a = Attribute(name);
  return a != nullptr && a->value_case() == AttrValue::kB ? a->b() : otherwise;
}

std::string OperatorContext::Text(std::string_view name,
                                  std::string_view otherwise) const {
  const AttrValue* a = Attribute(name);
  return a != nullptr && a->value_case() == AttrValue::kS
             ? a->s()
             : std::string(otherwise);
}

std::vector<int64_t> OperatorContext::Integers(
    std::string_view name, std::vector<int64_t> otherwise) const {
  const AttrValue* a = Attribute(name);
  if (a == nullptr || a->value_case() != AttrValue::kList) return otherwise;
  return {a->list().i().begin(), a->list().i().end()};
}

std::vector<float> OperatorContext::Numbers(std::string_view name) const {
  const AttrValue* a = Attribute(name);
  if (a == nullptr || a->value_case() != AttrValue::kList) return {};
  return {a->list().f().begin(), a->list().f().end()};
}

DataType OperatorContext::FileType(std::string_view name,
                                   DataType otherwise) const {
  const AttrValue* a = Attribute(name);
  return a != nullptr && a->value_case() == AttrValue::kType ? a->type()
                                                             : otherwise;
}

DType OperatorContext::Type(std::string_view name, DType otherwise) {
  const AttrValue* a = Attribute(name);
  if (a == nullptr || a->value_case() != AttrValue::kType) return otherwise;
  const std::optional<DType> dtype = DTypeOf(a->type());
  if (!dtype) {
    FailUnsupported("attribute '" + std::string(name) + "': type " +
                    TypeName(a->type()) + " is not supported");
  }
  return dtype.value_or(otherwise);
}

std::optional<std::vector<int64_t>> OperatorContext::ShapeAttribute(
    std::string_view name) const {
  const AttrValue* a = Attribute(name);
  if (a == nullptr || a->value_case() != AttrValue::kShape ||
      a->shape().unknown_rank())
    return std::nullopt;
  std::vector<int64_t> dims;
  for (const TensorShapeProto::Dim& dim : a->shape().dim())
    dims.push_back(dim.size() < 0 ? -1 : dim.size());
  return dims;
}

const List* OperatorContext::InputList(int index) {
  const Value& value = InputValue(index);
  if (value.list == nullptr && ok()) {
    FailInvalid("input " + std::to_string(index) +
                ": expected a list of tensors, found none");
  }
  return value.list.get();
}

void OperatorContext::SetList(int index, List list) {
  Value value;
  value.list = std::make_shared<const List>(std::move(list));
  SetValue(index, std::move(value));
}

}  // namespace ember::tensorflow
