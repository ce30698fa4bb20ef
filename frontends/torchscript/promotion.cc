#include "frontends/torchscript/promotion.h"

#include <algorithm>
#include <optional>

namespace ember::torchscript {
namespace {

int Category(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return IsFloat(dtype) ? 2 : 1;
}

}  // namespace

DType PromoteTypes(DType a, DType b) {
  if (a == b) return a;
  if (Category(a) != Category(b)) return Category(a) > Category(b) ? a : b;
  if (IsFloat(a)) {
    const bool narrow = DTypeByteSize(a) == 2 && DTypeByteSize(b) == 2;
    if (narrow) return DType::kF32;
    return DTypeByteSize(a) > DTypeByteSize(b) ? a : b;
  }
  // Two different types of one byte are i8 and u8, which is PyTorch's only
  // unsigned type. Only i16 holds both.
  const int widest = std::max(DTypeByteSize(a), DTypeByteSize(b));
  if (widest == 1) return DType::kI16;
  return DTypeByteSize(a) == widest ? a : b;
}

DType ResultType(Call& c, std::initializer_list<std::string_view> names) {
  // The promoted type of each class of operands: tensors with dims, tensors
  // without dims, and numbers. The first class has priority.
  std::optional<DType> types[3];
  for (const std::string_view name : names) {
    const Value& value = c.value(name);
    if (value.is_none()) continue;
    size_t priority = 2;
    DType dtype = DType::kF32;
    if (value.is_tensor()) {
      const Tensor tensor = c.tensor(name);
      priority = tensor.rank() > 0 ? 0 : 1;
      dtype = tensor.dtype();
    } else if (value.is(Value::Kind::kBool)) {
      dtype = DType::kBool;
    } else if (value.is(Value::Kind::kInt)) {
      dtype = DType::kI64;
    }
    std::optional<DType>& type = types[priority];
    type = type ? PromoteTypes(*type, dtype) : dtype;
  }
  std::optional<DType> result;
  for (const std::optional<DType>& type : types) {
    if (!type) continue;
    if (!result || Category(*type) > Category(*result)) result = type;
  }
  return result.value_or(DType::kF32);
}

DType FloatResultType(Call& c, std::initializer_list<std::string_view> names) {
  const DType type = ResultType(c, names);
  return IsFloat(type) ? type : DType::kF32;
}

std::vector<Tensor> InOneType(Call& c, std::vector<Tensor> tensors) {
  if (!c.ok() || tensors.empty()) return tensors;
  DType type = tensors[0].dtype();
  for (const Tensor& tensor : tensors)
    type = PromoteTypes(type, tensor.dtype());
  for (Tensor& tensor : tensors) tensor = ops::Cast(tensor, type);
  return tensors;
}

Tensor Times(const Tensor& a, const Tensor& b) {
  const bool of_bools = a.dtype() == DType::kBool && b.dtype() == DType::kBool;
  return of_bools ? ops::And(a, b) : a * b;
}

Tensor AsFloat(const Tensor& x) {
  return x.is_float() ? x : ops::Cast(x, DType::kF32);
}

}  // namespace ember::torchscript
