#include "frontends/onnx/node/context.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ember::onnx {
namespace {

std::string Quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::string AttributeTypeName(AttributeProto::AttributeType type) {
  return AttributeProto::AttributeType_IsValid(type)
             ? AttributeProto::AttributeType_Name(type)
             : std::to_string(type);
}

// Returns the type of an attribute. Old exporters omit the type; it is then
// determined by the field of the message that is set.
AttributeProto::AttributeType TypeOf(const AttributeProto& attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_i()) return AttributeProto::INT;
  if (attribute.has_f()) return AttributeProto::FLOAT;
  if (attribute.has_s()) return AttributeProto::STRING;
  if (attribute.has_t()) return AttributeProto::TENSOR;
  if (attribute.has_g()) return AttributeProto::GRAPH;
  if (attribute.floats_size() > 0) return AttributeProto::FLOATS;
  if (attribute.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

std::string Named(int input, std::string_view what) {
  return std::string(what) + " (input " + std::to_string(input) + ")";
}

}  // namespace

NodeContext::NodeContext(graph::GraphBuilder& builder, Source source,
                         std::vector<Tensor> inputs)
    : ImportContext(builder),
      source_(std::move(source)),
      inputs_(std::move(inputs)),
      outputs_(source_.node->output_size()) {}

Tensor NodeContext::Input(int index) const {
  return index < input_count() ? inputs_[index] : Tensor();
}

bool NodeContext::WantsOutput(int index) const {
  return index < output_count() && !node().output(index).empty();
}

void NodeContext::SetOutput(int index, Tensor value) {
  if (index < output_count()) outputs_[index] = value;
}

const AttributeProto* NodeContext::FindAttribute(std::string_view name) const {
  for (const AttributeProto& attribute : node().attribute()) {
    if (attribute.name() != name) continue;
    source_.read_attributes->emplace(name);
    return &attribute;
  }
  return nullptr;
}

const AttributeProto* NodeContext::Typed(std::string_view name,
                                         AttributeProto::AttributeType type) {
  const AttributeProto* attribute = FindAttribute(name);
  if (attribute == nullptr) return nullptr;
  if (TypeOf(*attribute) == type) return attribute;
  FailInvalid("attribute " + Quoted(name) + ": expected type " +
              AttributeTypeName(type) + ", found " +
              AttributeTypeName(TypeOf(*attribute)));
  return nullptr;
}

int64_t NodeContext::Integer(std::string_view name, int64_t otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::INT);
  return attribute ? attribute->i() : otherwise;
}

double NodeContext::Float(std::string_view name, double otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOAT);
  // Defaults are rounded to f32, as attributes are: 0.01 is 0.00999999978. In a
  // computation with f64 operands that makes a difference.
  return attribute ? attribute->f() : static_cast<float>(otherwise);
}

std::string NodeContext::String(std::string_view name,
                                std::string_view otherwise) {
  const AttributeProto* attribute = Typed(name, AttributeProto::STRING);
  return attribute ? attribute->s() : std::string(otherwise);
}

std::optional<std::vector<int64_t>> NodeContext::Integers(
    std::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::INTS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

std::vector<int64_t> NodeContext::Integers(std::string_view name,
                                           std::vector<int64_t> otherwise) {
  std::optional<std::vector<int64_t>> values = Integers(name);
  return values ? *std::move(values) : std::move(otherwise);
}

std::optional<std::vector<double>> NodeContext::Floats(std::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::FLOATS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}

std::optional<std::vector<std::string>> NodeContext::Strings(
    std::string_view name) {
  const AttributeProto* attribute = FindAttribute(name);
  // Old exporters omit the type of an empty list, too. An attribute without a
  // type is therefore read as a list of strings without a check.
  if (attribute != nullptr && attribute->type() != AttributeProto::UNDEFINED)
    attribute = Typed(name, AttributeProto::STRINGS);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::string>(attribute->strings().begin(),
                                  attribute->strings().end());
}

Tensor NodeContext::TensorAttribute(std::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::TENSOR);
  if (attribute == nullptr) return Tensor();
  StatusOr<TensorBytes> bytes =
      DecodeTensor(attribute->t(), source_.owner, source_.files);
  if (!bytes.ok()) {
    Fail(bytes.status().WithContext("attribute " + Quoted(name)));
    return Wrap(nullptr);
  }
  return FromBytes(*bytes);
}

Tensor NodeContext::FromBytes(const TensorBytes& bytes) {
  return ConstantOf(builder(), bytes);
}

Tensor NodeContext::StringVector(const std::vector<std::string>& texts) {
  std::vector<int64_t> handles;
  for (const std::string& text : texts)
    handles.push_back(builder().StringHandle(text));
  return Integers64(handles).Marked(TensorProto::STRING);
}

Tensor NodeContext::StringScalar(std::string_view text) {
  return Reshape(StringVector({std::string(text)}), {})
      .Marked(TensorProto::STRING);
}

const GraphProto* NodeContext::Subgraph(std::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::GRAPH);
  if (!ok()) return nullptr;
  if (attribute == nullptr)
    FailInvalid("attribute " + Quoted(name) + " is missing");
  return attribute != nullptr ? &attribute->g() : nullptr;
}

std::vector<Tensor> NodeContext::ImportSubgraph(
    std::string_view attribute, const std::vector<Tensor>& inputs) {
  const GraphProto* graph = Subgraph(attribute);
  if (graph == nullptr) return {};
  StatusOr<std::vector<Tensor>> outputs =
      source_.import_subgraph(*graph, inputs);
  builder().SetOrigin(source_.origin);
  if (outputs.ok()) return *std::move(outputs);
  Fail(outputs.status().WithContext("attribute " + Quoted(attribute)));
  return {};
}

std::optional<DType> NodeContext::TypeAttribute(std::string_view name) {
  const AttributeProto* attribute = Typed(name, AttributeProto::INT);
  if (attribute == nullptr) return std::nullopt;
  StatusOr<DType> dtype = DTypeFromOnnx(static_cast<int32_t>(attribute->i()));
  if (!dtype.ok()) {
    Fail(dtype.status().WithContext("attribute " + Quoted(name)));
    return DType::kF32;
  }
  return *dtype;
}

std::optional<Shape> NodeContext::Contents(int input, std::string_view what) {
  return ImportContext::Contents(Input(input), Named(input, what));
}

bool NodeContext::IsKnown(int input) const {
  const Tensor operand = Input(input);
  return operand.builder().IntegerContents(operand.value()).has_value();
}

std::optional<Shape> NodeContext::Sizes(int input, std::string_view what) {
  return ImportContext::Sizes(Input(input), Named(input, what));
}

std::optional<Shape> NodeContext::SignedSizesOf(Tensor values,
                                                std::string_view what) {
  if (!ok()) return std::nullopt;
  if (auto known = builder().IntegerContents(values.value())) return known;
  const Tensor wide = Cast(values, DType::kI64);
  const auto above = Sizes(Maximum(wide, 0), what);
  const auto below = Sizes(Maximum(-wide, 0), what);
  if (!above || !below) return std::nullopt;
  Shape sizes;
  for (size_t i = 0; i < above->size(); ++i)
    sizes.push_back((*above)[i] - (*below)[i]);
  return sizes;
}

std::optional<std::vector<int64_t>> NodeContext::ConstantIntegers(
    int input, std::string_view what) {
  return ImportContext::ConstantIntegers(Input(input), Named(input, what));
}

std::optional<std::vector<double>> NodeContext::ConstantNumbers(
    int input, std::string_view what) {
  if (!Input(input)) return std::nullopt;
  return ImportContext::ConstantNumbers(Input(input), Named(input, what));
}

std::optional<double> NodeContext::ConstantNumber(int input,
                                                  std::string_view what) {
  std::optional<std::vector<double>> contents = ConstantNumbers(input, what);
  if (!contents) return std::nullopt;
  if (contents->size() == 1) return contents->front();
  FailInvalid(Named(input, what) + ": expected one number, found " +
              std::to_string(contents->size()));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> NodeContext::IntegersFromAttributeOrInput(
    std::string_view name, int input) {
  if (HasAttribute(name)) return Integers(name);
  if (!Input(input)) return std::nullopt;
  return ConstantIntegers(input, name);
}

void NodeContext::FailDataDependent(const Tensor& operand,
                                    std::string_view what) {
  if (source_.data_dependent_inputs != nullptr)
    CollectInputs(operand.value(), *source_.data_dependent_inputs);
  ImportContext::FailDataDependent(operand, what);
}

Tensor ConstantOf(graph::GraphBuilder& builder, const TensorBytes& bytes) {
  graph::ConstantData data = {.owner = bytes.owner, .bytes = bytes.bytes};
  if (bytes.is_strings()) {
    std::vector<int64_t> handles;
    for (const std::string& text : bytes.strings)
      handles.push_back(builder.StringHandle(text));
    const auto* begin = reinterpret_cast<const uint8_t*>(handles.data());
    data = graph::ConstantData::Copy(
        {begin, handles.size() * sizeof(handles.front())});
  }
  return Tensor(&builder,
                builder.Constant(bytes.dtype, bytes.dims, std::move(data)))
      .Marked(bytes.carried_type);
}

void CollectInputs(const graph::Value* value, std::set<std::string>& names) {
  std::vector<const graph::Value*> pending{value};
  std::set<const graph::Value*> seen{value};
  while (!pending.empty()) {
    const graph::Value* next = pending.back();
    pending.pop_back();
    if (next->producer() == nullptr) {
      names.insert(next->name());
      continue;
    }
    for (const graph::Value* operand : next->producer()->operands()) {
      if (seen.insert(operand).second) pending.push_back(operand);
    }
  }
}

bool CheckPresent(NodeContext& c, std::initializer_list<int> inputs) {
  for (int input : inputs) {
    if (c.Input(input)) continue;
    c.FailInvalid("input " + std::to_string(input) + " is missing");
    return false;
  }
  return c.ok();
}

}  // namespace ember::onnx
