#include "jit/c/conversions.h"

#include "base/concat.h"
#include "jit/c/types.h"

namespace ember::jit::c {
namespace {

bool IsWideFloat(DType type) {
  return type == DType::kF32 || type == DType::kF64;
}

std::string CastTo(DType from, DType to, const std::string& value) {
  if (from == to) return value;
  return Concat({"(", TypeOf(to), ")", value});
}

}  // namespace

std::optional<std::string> Cast(DType from, DType to, bool is_raw,
                                const std::string& value) {
  if (from == to) return value;
  // A bf16 has the bits of the upper half of an f32.
  if (from == DType::kBF16 && to == DType::kF32)
    return Concat({"ember_f32_of_u32((uint32_t)", value, " << 16)"});
  if (from == DType::kF32 && to == DType::kBF16 && is_raw)
    return Concat({"(uint16_t)(ember_u32_of_f32(", value, ") >> 16)"});
  if (IsNarrowFloat(from) || IsNarrowFloat(to)) return std::nullopt;
  const bool saturates = IsFloat(from) && IsInteger(to);
  if (to == DType::kBool || (saturates && !is_raw)) return std::nullopt;
  return CastTo(from, to, value);
}

std::string Bitcast(DType from, DType to, const std::string& value) {
  if (IsWideFloat(from) == IsWideFloat(to)) return CastTo(from, to, value);
  const bool is_long = DTypeByteSize(from) == 8;
  const DType bits = is_long ? DType::kU64 : DType::kU32;
  if (IsWideFloat(to)) {
    return Concat({is_long ? "ember_f64_of_u64(" : "ember_f32_of_u32(",
                   CastTo(from, bits, value), ")"});
  }
  return CastTo(bits, to,
                Concat({is_long ? "ember_u64_of_f64(" : "ember_u32_of_f32(",
                        value, ")"}));
}

}  // namespace ember::jit::c
