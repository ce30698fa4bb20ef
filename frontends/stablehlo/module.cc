#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {
namespace {

constexpr size_t kTextOfOneValue = 64, kDimsOfOneValue = 8;

std::string Listed(const std::vector<Type>& types) {
  std::string text;
  for (const Type& type : types)
    text += (text.empty() ? "" : ", ") + ToString(type);
  return text;
}

}  // namespace

std::string ToString(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor: {
      std::string text = "tensor<";
      for (const int64_t dim : type.dims)
        text += (dim == kDynamic ? "?" : std::to_string(dim)) + "x";
      text += type.element;
      if (!type.encoding.empty()) text += ", " + type.encoding;
      return text + ">";
    }
    case Type::Kind::kUnranked:
      return "tensor<*x" + type.element + ">";
    case Type::Kind::kTuple:
      return "tuple<" + Listed(type.results) + ">";
    case Type::Kind::kToken:
      return "!stablehlo.token";
    case Type::Kind::kFunction:
      return "(" + Listed(type.inputs) + ") -> (" + Listed(type.results) + ")";
    case Type::Kind::kScalar:
    case Type::Kind::kOther:
      break;
  }
  return type.element;
}

Type TensorOf(std::string element, std::vector<int64_t> dims) {
  Type type;
  type.kind = Type::Kind::kTensor;
  type.element = std::move(element);
  type.dims = std::move(dims);
  return type;
}

std::optional<DType> DTypeOf(std::string_view element) {
  if (element == "i1") return DType::kBool;
  // Elements of MLIR's type index become i64, because Ember computes indices in
  // 64 bits.
  if (element == "index") return DType::kI64;
  if (element.starts_with("ui"))
    return DTypeFromName(std::string("u") + std::string(element.substr(2)));
  if (element.starts_with("si"))
    return DTypeFromName(std::string("i") + std::string(element.substr(2)));
  if (element.starts_with("u") || element == "bool") return std::nullopt;
  return DTypeFromName(element);
}

std::optional<int64_t> ElementBytes(std::string_view element) {
  if (const auto dtype = DTypeOf(element)) return DTypeByteSize(*dtype);
  if (element == "complex<f32>") return 8;
  if (element == "complex<f64>") return 16;
  for (const std::string_view narrow : {"i2", "i4", "ui2", "ui4", "si4"})
    if (element == narrow) return 1;
  if (element.starts_with("f8")) return 1;
  return std::nullopt;
}

Attribute IntegerAttribute(int64_t value) {
  Attribute attribute;
  attribute.kind = Attribute::Kind::kInteger;
  attribute.type.kind = Type::Kind::kScalar;
  attribute.type.element = "i64";
  attribute.integer = value;
  return attribute;
}

Attribute IntegersAttribute(std::vector<int64_t> values) {
  Attribute attribute = IntegerAttribute(0);
  attribute.kind = Attribute::Kind::kIntegers;
  attribute.integers = std::move(values);
  return attribute;
}

const Attribute* FindAttribute(const AttributeList& attributes,
                               std::string_view name) {
  for (const auto& [key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

int64_t OwnTextSize(const Type& type) {
  return static_cast<int64_t>((type.element.size() + type.encoding.size()) /
                                  kTextOfOneValue +
                              type.dims.size() / kDimsOfOneValue);
}

int64_t OwnTextSize(const Attribute& attribute) {
  size_t bytes = attribute.text.size();
  for (const auto& [name, part] : attribute.entries) bytes += name.size();
  return static_cast<int64_t>(bytes / kTextOfOneValue);
}

Extent ExtentOf(const Type& type) {
  Extent extent;
  extent.size += OwnTextSize(type);
  for (const auto* parts : {&type.inputs, &type.results})
    for (const Type& part : *parts) extent.Add(ExtentOf(part));
  return extent;
}

Extent ExtentOf(const Attribute& attribute) {
  Extent extent = ExtentOf(attribute.type);
  extent.size +=
      OwnTextSize(attribute) + static_cast<int64_t>(attribute.integers.size() +
                                                    attribute.numbers.size());
  for (const Attribute& part : attribute.array) extent.Add(ExtentOf(part));
  for (const auto& [name, part] : attribute.entries) extent.Add(ExtentOf(part));
  return extent;
}

const Function* Module::Find(std::string_view function) const {
  const auto found = numbers_.find(function);
  return found == numbers_.end() ? nullptr : &functions[found->second];
}

bool Module::Add(Function function) {
  if (!numbers_.emplace(function.name, functions.size()).second) return false;
  functions.push_back(std::move(function));
  return true;
}

}  // namespace ember::stablehlo
