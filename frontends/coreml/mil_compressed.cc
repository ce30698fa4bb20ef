// MIL's compressed constants and quantized numbers. Packed numbers begin with
// the lowest bit of the first byte.
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/coreml/mil_packed.h"

namespace ember::coreml {
namespace {

// Returns a scale or an offset as numbers that broadcast against `data`: one
// for all of the data, or one for each slice along the axis.
Tensor PerSlice(MilOperation& o, std::string_view name, const Tensor& data) {
  const Tensor numbers = Cast(o.Input(name), DType::kF32);
  if (!o.ok() || numbers.rank() == 0) return numbers;
  const int axis = o.Axis("axis", 0, data.rank());
  if (!o.ok()) return numbers;
  if (numbers.rank() != 1 || numbers.dim(0) != data.dim(axis)) {
    o.FailInvalid(std::string(name) + ": expected one number or " +
                  data.dim(axis).ToString() + ", found " +
                  graph::ShapeToString(numbers.shape()));
    return numbers;
  }
  return ops::AlongAxis(numbers, axis, data.rank());
}

void Dequantized(MilOperation& o, const Tensor& data) {
  Tensor y = Cast(data, DType::kF32);
  if (o.Has("zero_point")) y = y - PerSlice(o, "zero_point", data);
  y = y * PerSlice(o, "scale", data);
  if (o.ok()) o.SetOutput(0, Cast(y, o.Input("scale").dtype()));
}
void AffineDequantize(MilOperation& o) {
  Dequantized(o, o.Input("quantized_data"));
}
void Dequantize(MilOperation& o) { Dequantized(o, o.Input("input")); }

void Quantize(MilOperation& o) {
  const std::string type = o.Text("output_dtype", "");
  if (type != "int8" && type != "uint8") {
    return o.FailInvalid("output_dtype: expected int8 or uint8, found '" +
                         type + "'");
  }
  const bool is_signed = type == "int8";
  const Tensor x = o.Input("input");
  Tensor y = Round(Cast(x, DType::kF32) / PerSlice(o, "scale", x));
  if (o.Has("zero_point")) y = y + PerSlice(o, "zero_point", x);
  if (!o.ok()) return;
  y = Minimum(Maximum(y, is_signed ? -128 : 0), is_signed ? 127 : 255);
  o.SetOutput(0, Cast(y, is_signed ? DType::kI8 : DType::kU8));
}

void CastConstant(MilOperation& o) {
  const std::string type = o.Text("output_dtype", "");
  if (type != "fp32")
    return o.FailUnsupported("output_dtype: found '" + type + "'");
  o.SetOutput(0, Cast(o.Input("source_val"), DType::kF32));
}

// Reads the dims of a result from the input "shape". Returns nullopt, with an
// error, unless `packed` has exactly the bytes of its numbers, `bits` bits
// each.
std::optional<Result> ReadShape(MilOperation& o, Bytes packed, int64_t bits) {
  Result result{o.Integers("shape")};
  std::optional<int64_t> total = bits;
  for (const int64_t dim : result.shape) {
    if (total) total = dim < 0 ? std::nullopt : CheckedMultiply(*total, dim);
  }
  if (!o.ok()) return std::nullopt;
  const auto found = static_cast<int64_t>(packed.size());
  if (!total || *total > std::numeric_limits<int64_t>::max() - 7 ||
      (*total + 7) / 8 != found) {
    o.FailInvalid("shape: expected one of " + std::to_string(bits) +
                  " bits for each number of " + std::to_string(found) +
                  " bytes, found another");
    return std::nullopt;
  }
  result.count = *total / bits;
  return result;
}

void LookUpTable(MilOperation& o) {
  const auto indices = DataOf(o, "indices"), table = DataOf(o, "lut");
  if (!indices || !table || !o.CheckRank("lut", 1, 1)) return;
  const Tensor lut = o.Input("lut");
  const int64_t size = lut.dim(0).constant();
  if (size < 2 || size > 256 ||
      !std::has_single_bit(static_cast<uint64_t>(size)))
    return o.FailInvalid("lut: expected 2, 4, 16, 64 or 256 numbers, found " +
                         std::to_string(size));
  const int64_t bits = std::countr_zero(static_cast<uint64_t>(size));
  const auto result = ReadShape(o, *indices, bits);
  if (!result) return;
  SetPicked(o, 0, *result, *table, lut.dtype(), [&](int64_t i) {
    return static_cast<int64_t>(BitsAt(*indices, i, bits));
  });
}

void SparseToDense(MilOperation& o) {
  const auto mask = DataOf(o, "mask"), numbers = DataOf(o, "nonzero_data");
  if (!mask || !numbers || !o.CheckRank("nonzero_data", 1, 1)) return;
  const Tensor given = o.Input("nonzero_data");
  const auto result = ReadShape(o, *mask, 1);
  if (!result) return;
  int64_t count = 0;
  for (int64_t i = 0; i < result->count; ++i) count += BitsAt(*mask, i, 1);
  if (given.dim(0) != Dim(count)) {
    return o.FailInvalid("nonzero_data: expected " + std::to_string(count) +
                         " numbers, found " + given.dim(0).ToString());
  }
  int64_t next = 0;
  SetPicked(o, 0, *result, *numbers, given.dtype(), [&](int64_t i) {
    return BitsAt(*mask, i, 1) != 0 ? next++ : int64_t{-1};
  });
}

// Operations of the same name have two forms. Until iOS 17 a parameter has the
// shape of the constant; since iOS 18 the packed constant itself has this
// shape.
void LookUp(MilOperation& o) {
  return o.Has("shape") ? LookUpTable(o) : BlockwiseLookUp(o);
}
void ToDense(MilOperation& o) {
  return o.Has("shape") ? SparseToDense(o) : MaskedToDense(o);
}

constexpr MilRow kRows[] = {
    {"constexpr_affine_dequantize", AffineDequantize},
    {"constexpr_cast", CastConstant},
    {"constexpr_lut_to_dense", LookUp},
    {"constexpr_sparse_to_dense", ToDense},
    {"dequantize", Dequantize},
    {"quantize", Quantize},
};

}  // namespace

std::span<const MilRow> MilCompressed() { return kRows; }

}  // namespace ember::coreml
