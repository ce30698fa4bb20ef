#include "jit/c_like/language.h"

#include "jit/c_like/form.h"

namespace ember::jit::c_like {

std::string_view TypeOf(const Language& language, DType type) {
  const Language::Types& types = language.types;
  switch (type) {
    case DType::kBool:
      return types.boolean;
    case DType::kU8:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      return types.u8;
    case DType::kI8:
      return types.i8;
    case DType::kI16:
      return types.i16;
    case DType::kI32:
      return types.i32;
    case DType::kI64:
      return types.i64;
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return types.u16;
    case DType::kU32:
      return types.u32;
    case DType::kU64:
      return types.u64;
    case DType::kF32:
      return types.f32;
    case DType::kF64:
      return types.f64;
  }
  return "";
}

std::string_view WrappingTypeOf(const Language& language, DType type) {
  return DTypeByteSize(type) == 8 ? language.types.u64 : language.types.u32;
}

std::string CastTo(const Language& language, std::string_view type,
                   std::string_view value) {
  return Fill(language.cast, {{"type", type}, {"value", value}});
}

}  // namespace ember::jit::c_like
