#include "jit/c_like/conversions.h"

#include "base/concat.h"
#include "jit/c_like/form.h"

namespace ember::jit::c_like {
namespace {

bool IsWideFloat(DType type) {
  return type == DType::kF32 || type == DType::kF64;
}

std::string Convert(const Language& language, DType from, DType to,
                    const std::string& value) {
  if (from != to && language.convert != nullptr)
    return language.convert(from, to, value);
  return from == to ? value : CastTo(language, TypeOf(language, to), value);
}

}  // namespace

std::optional<std::string> Cast(const Language& language, DType from, DType to,
                                bool is_raw, const std::string& value) {
  if (from == to) return value;
  const Language::Types& types = language.types;
  // The bits of a bf16 are the upper half of the bits of the equal f32.
  if (from == DType::kBF16 && to == DType::kF32) {
    const std::string bits = CastTo(language, types.u32, value) + " << 16";
    return Fill(language.bits.f32_of_u32, {{"value", bits}});
  }
  if (from == DType::kF32 && to == DType::kBF16 && is_raw) {
    const std::string bits = Fill(language.bits.u32_of_f32, {{"value", value}});
    return CastTo(language, types.u16, Concat({"(", bits, " >> 16)"}));
  }
  if (IsNarrowFloat(from) || IsNarrowFloat(to)) return std::nullopt;
  const bool saturates = IsFloat(from) && IsInteger(to);
  if (to == DType::kBool || (saturates && !is_raw)) return std::nullopt;
  return Convert(language, from, to, value);
}

std::string Bitcast(const Language& language, DType from, DType to,
                    const std::string& value) {
  if (IsWideFloat(from) == IsWideFloat(to))
    return Convert(language, from, to, value);
  const Language::Bits& forms = language.bits;
  const bool is_long = DTypeByteSize(from) == 8;
  const DType bits = is_long ? DType::kU64 : DType::kU32;
  if (IsWideFloat(to)) {
    return Fill(is_long ? forms.f64_of_u64 : forms.f32_of_u32,
                {{"value", Convert(language, from, bits, value)}});
  }
  return Convert(
      language, bits, to,
      Fill(is_long ? forms.u64_of_f64 : forms.u32_of_f32, {{"value", value}}));
}

}  // namespace ember::jit::c_like
