#include "tensor/testing/random_stage_values.h"

#include <algorithm>

namespace ember::tensor {

Scalar RandomStageValues::Constant(DType type) {
  if (IsFloat(type)) {
    constexpr double kValues[] = {0.0, 1.0, -1.0, 0.5, 2.0, 3.25, -0.0, 100.0};
    return stage_->Value(kValues[Below(8)], type);
  }
  return stage_->IntegerValue(Below(12) - 4, type);
}

Scalar RandomStageValues::RoughIndex() {
  Scalar index = stage_->Index(Below(5));
  const int terms = 1 + Below(2);
  for (int i = 0; i < terms && !axes_.empty(); ++i) {
    Scalar axis = Pick(axes_).scalar;
    if (Chance(3)) axis = axis * (1 + Below(4));
    if (Chance(5)) axis = FloorDivide(axis, 1 + Below(4));
    if (Chance(6)) axis = Modulo(axis, 1 + Below(5));
    if (Chance(10)) axis = FloorDivide(axis, Pick(parameters_).scalar);
    if (Chance(10)) axis = Modulo(axis, Pick(parameters_).scalar);
    // Adds (axis floordiv d) * d + axis mod d, which simplifies to the axis, or
    // the same expression with another factor, which must not be simplified so.
    if (Chance(8)) {
      const int divisor = 1 + Below(4);
      axis = FloorDivide(axis, divisor) * (Chance(2) ? divisor : Below(4)) +
             Modulo(axis, divisor);
    }
    index = Chance(4) ? index - axis : index + axis;
  }
  return index;
}

Scalar RandomStageValues::IndexWithin(const Extent& extent) {
  std::vector<Extent> fitting;
  for (const Extent& axis : axes_) {
    if (axis.value <= extent.value) fitting.push_back(axis);
  }
  switch (Below(8)) {
    case 0:
      return Modulo(RoughIndex(), extent.scalar);
    case 1:
      return Minimum(Maximum(RoughIndex(), stage_->Index(0)),
                     extent.scalar - 1);
    case 2:
      if (const std::optional<Scalar> gathered = GatheredIndex()) {
        return Minimum(Maximum(*gathered, stage_->Index(0)), extent.scalar - 1);
      }
      break;
    case 3:
      if (!fitting.empty()) return extent.scalar - 1 - Pick(fitting).scalar;
      break;
    case 4:
      if (!fitting.empty()) {
        const Extent& axis = Pick(fitting);
        return axis.scalar + (extent.value - std::max<int64_t>(axis.value, 1));
      }
      break;
    default:
      break;
  }
  if (!fitting.empty()) return Pick(fitting).scalar;
  return Modulo(RoughIndex(), extent.scalar);
}

std::optional<Scalar> RandomStageValues::GatheredIndex() {
  const BufferInfo& source = Pick(loadable_);
  if (!IsInteger(source.type) || HasNoElements(source)) return std::nullopt;
  std::vector<Scalar> indices;
  for (const Extent& extent : source.extents) {
    indices.push_back(Modulo(RoughIndex(), extent.scalar));
  }
  return Cast(stage_->Load(source.number, indices), DType::kI64);
}

bool RandomStageValues::HasNoElements(const BufferInfo& buffer) {
  return std::any_of(buffer.extents.begin(), buffer.extents.end(),
                     [](const Extent& extent) { return extent.value == 0; });
}

Scalar RandomStageValues::LoadOf(const BufferInfo& source) {
  std::vector<Scalar> indices;
  if (is_on_grid_ && source.shape && !Chance(8)) {
    const GridIndices read = grid_->Read(*source.shape, point_, *stage_);
    if (!read.may_be_outside) return stage_->Load(source.number, read.indices);
    return stage_->Pad(source.number, read.indices, PadValue(source.type));
  }
  if (HasNoElements(source) || Chance(5)) {
    for (size_t i = 0; i < source.extents.size(); ++i)
      indices.push_back(RoughIndex());
    // A buffer of rank 0 has no indices, so its pad never gives the default
    // value.
    return stage_->Pad(source.number, indices, PadValue(source.type));
  }
  for (const Extent& extent : source.extents)
    indices.push_back(IndexWithin(extent));
  return stage_->Load(source.number, indices);
}

Scalar RandomStageValues::PadValue(DType type) {
  if (Chance(4) || pads_are_small_) return stage_->IntegerValue(Below(2), type);
  if (pad_depth_ > 0 || Chance(2)) return Constant(type);
  ++pad_depth_;
  const Scalar value = Chance(4) ? Value(type, 2) : Leaf(type);
  --pad_depth_;
  return value;
}

Scalar RandomStageValues::SmallValue(DType type) {
  const BufferInfo& source = Pick(loadable_);
  const bool may_be_special = special_inputs_ && IsFloat(source.type);
  if (!source.small_values || may_be_special || source.type == DType::kBool)
    return stage_->Value(Below(5), type);
  pads_are_small_ = true;
  const Scalar value = Cast(LoadOf(source), type);
  pads_are_small_ = false;
  return value;
}

Scalar RandomStageValues::Leaf(DType type) {
  if (Chance(8)) return Constant(type);
  if (Chance(8)) return Cast(RoughIndex(), type);
  for (int attempt = 0; attempt < 4; ++attempt) {
    const BufferInfo& source = Pick(loadable_);
    if (source.type == type) return LoadOf(source);
  }
  return Cast(LoadOf(Pick(loadable_)), type);
}

Scalar RandomStageValues::Condition(int depth) {
  const DType type = AnyType();
  const Opcode opcode =
      static_cast<Opcode>(static_cast<int>(Opcode::kEqual) + Below(4));
  return Binary(opcode, Value(type, depth - 1), Value(type, depth - 1));
}

Scalar RandomStageValues::Value(DType type, int depth) {
  if (depth <= 0 || Chance(6)) return Leaf(type);
  switch (Below(6)) {
    case 0:
      return UnaryValue(type, depth);
    case 1:
      return Select(Condition(depth - 1), Value(type, depth - 1),
                    Value(type, depth - 1));
    case 2:
      return Cast(Value(AnyType(), depth - 1), type);
    case 3:
      if (type == DType::kBool) return Condition(depth);
      break;
    default:
      break;
  }
  return BinaryValue(type, depth);
}

Scalar RandomStageValues::UnaryValue(DType type, int depth) {
  const int first = static_cast<int>(Opcode::kNegate),
            last = static_cast<int>(Opcode::kErf);
  while (true) {
    const Opcode opcode = static_cast<Opcode>(first + Below(last - first + 1));
    if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
    if (options_.exact && !IsExact(opcode, type)) continue;
    return Unary(opcode, Value(type, depth - 1));
  }
}

Scalar RandomStageValues::BinaryValue(DType type, int depth) {
  const int first = static_cast<int>(Opcode::kAdd),
            last = static_cast<int>(Opcode::kShiftRight);
  while (true) {
    const Opcode opcode = static_cast<Opcode>(first + Below(last - first + 1));
    if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
    if (options_.exact && !IsExact(opcode, type)) continue;
    return Binary(opcode, Value(type, depth - 1), Value(type, depth - 1));
  }
}

}  // namespace ember::tensor
