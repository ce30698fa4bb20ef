#include "compiler/passes/dequantized_value.h"

#include <algorithm>
#include <string_view>

#include "compiler/passes/constant_value.h"
#include "compiler/passes/permutation.h"
#include "compiler/passes/queries.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Operation;
using graph::Shape;
using graph::Value;

// True for a view: an operation that only moves the elements of its operand 0.
bool IsView(const Operation& operation) {
  const std::string_view name = operation.name();
  return name == "transpose" || name == "reshape" || name == "slice" ||
         name == "broadcast" || name == "gather";
}

// Recognises (i32(bytes) - zero) * scale without views around it.
std::optional<DequantizedValue> WithoutViews(Value* value) {
  if (!IsResultOf(value, "multiply") || value->dtype() != DType::kF32)
    return std::nullopt;
  DequantizedValue result;
  Value* wide = nullptr;
  for (int i = 0; i < 2; ++i) {
    Value* factor = value->producer()->operand(i);
    Value* scale = value->producer()->operand(1 - i);
    if (!IsResultOf(factor, "cast") || !IsConstantParameter(scale)) continue;
    wide = factor->producer()->operand(0);
    result.scale = scale;
  }
  if (wide == nullptr || wide->dtype() != DType::kI32 ||
      wide->shape() != value->shape()) {
    return std::nullopt;
  }
  if (IsResultOf(wide, "subtract")) {
    result.zero = wide->producer()->operand(1);
    wide = wide->producer()->operand(0);
    if (UniformConstant(result.zero) == 0.0) result.zero = nullptr;
  }
  if (!IsResultOf(wide, "cast") || wide->shape() != value->shape())
    return std::nullopt;
  result.bytes = wide->producer()->operand(0);
  if (!IsByte(result.bytes->dtype())) return std::nullopt;
  if (result.zero != nullptr && !HoldsBytes(result.zero, result.bytes->dtype()))
    return std::nullopt;
  return result;
}

bool HasOneOf(const DequantizedValue& value) {
  return HasOneElement(value.scale) &&
         (value.zero == nullptr || HasOneElement(value.zero));
}

// True if the zero point and the scale each have one element, or have as many
// dims as the value, so that views can be applied to them.
bool HasWholeRank(const DequantizedValue& value) {
  const int rank = value.bytes->rank();
  return (HasOneElement(value.scale) || value.scale->rank() == rank) &&
         (value.zero == nullptr || HasOneElement(value.zero) ||
          value.zero->rank() == rank);
}

}  // namespace

bool IsConstantParameter(const Value* value) {
  if (ConstantOf(value) != nullptr) return true;
  if (!IsResultOf(value, "reshape") && !IsResultOf(value, "transpose") &&
      !IsResultOf(value, "multiply") && !IsResultOf(value, "divide")) {
    return false;
  }
  return std::ranges::all_of(value->producer()->operands(),
                             IsConstantParameter);
}

Shape DequantizedValue::ScaleShape() const {
  if (HasOneElement(scale)) return {};
  Shape shape = scale->shape();
  for (size_t i = views.size(); i-- > 0;) {
    shape =
        Permute(shape, views[i]->attributes().Get<Permutation>("permutation"));
  }
  return shape;
}

int64_t DequantizedValue::Bound() const {
  const Operation* constant = ConstantOf(bytes);
  if (constant == nullptr || zero != nullptr) return 255;
  int64_t bound = 0;
  const auto& data = constant->attributes().Get<ConstantData>("value");
  for (uint8_t byte : data.bytes) {
    const int64_t value = bytes->dtype() == DType::kI8
                              ? int64_t{static_cast<int8_t>(byte)}
                              : int64_t{byte};
    bound = std::max(bound, value < 0 ? -value : value);
  }
  return bound;
}

std::optional<DequantizedValue> DequantizedValueOf(Value* value) {
  std::vector<const Operation*> views;
  bool only_transposes = true;
  while (value->producer() != nullptr && IsView(*value->producer())) {
    views.push_back(value->producer());
    only_transposes &= value->producer()->name() == "transpose";
    value = value->producer()->operand(0);
  }
  std::optional<DequantizedValue> result = WithoutViews(value);
  if (!result) return std::nullopt;
  const bool is_kept =
      HasOneOf(*result) || (only_transposes && HasWholeRank(*result));
  if (!views.empty() && !is_kept) return std::nullopt;
  result->views = std::move(views);
  return result;
}

}  // namespace ember::compiler
