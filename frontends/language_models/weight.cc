#include "frontends/language_models/weight.h"

namespace ember::language_models {

using ops::Apply;
using ops::Cast;
using ops::Gather;
using ops::Reshape;

Shape Weight::shape() const {
  Shape shape = packed.shape();
  if (!is_blocked()) return shape;
  const Dim blocks = packed.dim(-2);
  shape.resize(shape.size() - 2);
  shape.push_back(blocks * Dim(InfoOf(format).elements));
  return shape;
}

Dim Weight::dim(int axis) const {
  const Shape dims = shape();
  const int i = axis < 0 ? axis + static_cast<int>(dims.size()) : axis;
  if (i < 0 || i >= static_cast<int>(dims.size())) return packed.dim(99);
  return dims[static_cast<size_t>(i)];
}

Tensor Weight::Values() const {
  if (!is_blocked()) return Cast(packed, DType::kF32);
  if (packed.rank() < 2) return packed;
  const BlockedValues parts = Unpack(packed, format);
  Tensor values = Cast(parts.codes, DType::kF32) * parts.scale;
  if (parts.offset) values = values + parts.offset;
  return Reshape(values, shape());
}

Tensor GatherRows(const Weight& w, Tensor indices) {
  const Weight rows{.packed = Gather(w.packed, Cast(indices, DType::kI64), 0),
                    .format = w.format};
  return rows.Values();
}

Weight SliceFirst(const Weight& w, Tensor index) {
  return {.packed = Gather(w.packed, index, 0), .format = w.format};
}

}  // namespace ember::language_models
