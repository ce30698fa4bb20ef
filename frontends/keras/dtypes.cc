#include "frontends/keras/dtypes.h"

#include <utility>

#include "base/one_line.h"

namespace ember::keras {
namespace {

std::optional<DType> DTypeOf(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"bool", DType::kBool},          {"int8", DType::kI8},
      {"int16", DType::kI16},          {"int32", DType::kI32},
      {"int64", DType::kI64},          {"uint8", DType::kU8},
      {"uint16", DType::kU16},         {"uint32", DType::kU32},
      {"uint64", DType::kU64},         {"float16", DType::kF16},
      {"bfloat16", DType::kBF16},      {"float32", DType::kF32},
      {"float64", DType::kF64},        {"mixed_float16", DType::kF16},
      {"mixed_bfloat16", DType::kBF16}};
  for (const auto& [text, type] : kTypes)
    if (text == name) return type;
  return std::nullopt;
}

// Returns the name of a type or of a layer's dtype policy, such as "float32"
// for {"class_name": "DTypePolicy", "config": {"name": "float32"}}. For a
// quantized policy, which has a "mode", it returns a text for the error
// message.
std::string PolicyName(const Config& entry) {
  if (const auto name = entry.AsText()) return *name;
  if (!entry.is_object()) return "";
  const Config inner = entry.Entry("config");
  if (!inner.Has("mode")) return inner.Text("name");
  const std::string source = inner.Text("source_name");
  return entry.Text("class_name") + " " + inner.Text("mode") +
         (source.empty() ? "" : " of " + source);
}

// Returns the name of the type or dtype policy of a layer. For a DTypePolicyMap
// it is that of the first policy of an inner layer that names no type
// (MultiHeadAttention writes one if its inner layers are quantized), else that
// of the default policy.
std::string NameOf(const Config& config) {
  const Config entry = config.Entry("dtype");
  if (!entry.is_object() || entry.Text("class_name") != "DTypePolicyMap")
    return PolicyName(entry);
  const Config map = entry.Entry("config");
  const Config policies = map.Entry("policy_map");
  if (policies.is_object()) {
    for (const std::string& key : policies.Keys()) {
      std::string name = PolicyName(policies.Entry(key));
      if (!name.empty() && !DTypeOf(name)) return name;
    }
  }
  const std::string name = PolicyName(map.Entry("default_policy"));
  return name.empty() ? "float32" : name;
}

}  // namespace

StatusOr<ValueType> InputTypeOf(const Config& config, std::string_view what) {
  const std::string name = NameOf(config);
  if (name.empty()) return ValueType{};
  if (name == "string") return ValueType{DType::kI64, "string"};
  const std::optional<DType> type = DTypeOf(name);
  if (!type) {
    return UnimplementedError(std::string(what) + ": type '" + OnOneLine(name) +
                              "'");
  }
  return ValueType{*type, ""};
}

StatusOr<std::optional<DType>> ComputeTypeOf(const Config& config) {
  const std::string name = NameOf(config);
  if (name.empty() || name == "string") return std::optional<DType>();
  const std::optional<DType> type = DTypeOf(name);
  if (!type) {
    return UnimplementedError("dtype policy '" + OnOneLine(name) +
                              "': expected a float type (quantized weights are "
                              "not read: save the model before quantize())");
  }
  return IsFloat(*type) ? type : std::nullopt;
}

}  // namespace ember::keras
