#include "frontends/torchscript/fixed_value.h"

#include <utility>

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

constexpr int kMaxParts = 1000;

}  // namespace

std::optional<FixedValue> FixedValue::Of(const Value& value) {
  int parts = 0;
  return Of(value, 0, parts);
}

std::optional<FixedValue> FixedValue::Of(const Value& value, int depth,
                                         int& parts) {
  if (depth > kMaxListDepth || ++parts > kMaxParts) return std::nullopt;
  FixedValue fixed;
  fixed.leaf_.kind = value.kind;
  const auto add = [&](const Value& part) {
    std::optional<FixedValue> made = Of(part, depth + 1, parts);
    if (!made) return false;
    fixed.parts_.push_back(*std::move(made));
    return true;
  };
  if (value.is_sequence()) {
    if (value.list->fields != nullptr) return std::nullopt;
    for (const Value& item : value.list->items)
      if (!add(item)) return std::nullopt;
    return fixed;
  }
  if (value.is(Kind::kObject)) {
    fixed.class_name_ = value.object->class_name;
    fixed.type_ = value.object->type;
    for (const auto& [name, attribute] : value.object->attributes) {
      if (!add(attribute)) return std::nullopt;
      fixed.names_.push_back(name);
    }
    return fixed;
  }
  if (!value.is_none() && !value.is(Kind::kString) && !value.is_known_number())
    return std::nullopt;
  fixed.leaf_ = value;
  return fixed;
}

Value FixedValue::Make(Machine& machine) const {
  if (leaf_.is(Kind::kObject)) {
    Value made;
    made.kind = Kind::kObject;
    made.object = &machine.NewObject(class_name_);
    made.object->type = type_;
    for (size_t i = 0; i < parts_.size(); ++i)
      made.object->attributes[names_[i]] = parts_[i].Make(machine);
    return made;
  }
  if (!leaf_.is_sequence()) return leaf_;
  std::vector<Value> items;
  for (const FixedValue& part : parts_) items.push_back(part.Make(machine));
  return leaf_.is(Kind::kTuple) ? machine.NewTuple(std::move(items))
                                : machine.NewList(std::move(items));
}

bool FixedValue::operator==(const FixedValue& other) const {
  if (leaf_.kind != other.leaf_.kind || parts_ != other.parts_ ||
      class_name_ != other.class_name_ || names_ != other.names_)
    return false;
  const bool is_leaf = !leaf_.is_sequence() && !leaf_.is(Kind::kObject);
  return !is_leaf || IsSame(leaf_, other.leaf_);
}

}  // namespace ember::torchscript
