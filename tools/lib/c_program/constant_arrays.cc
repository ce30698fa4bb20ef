#include "tools/lib/c_program/constant_arrays.h"

#include <algorithm>
#include <cstdio>

#include "base/concat.h"
#include "base/rounding.h"
#include "jit/c/language.h"
#include "jit/c_like/literals.h"
#include "tensor/scalar.h"
#include "tools/lib/c_program/memory_layout.h"

namespace ember::tools {
namespace {

constexpr size_t kMaxInLine = 78;

// True for the types whose elements are written as bits.
bool IsInUnion(DType type) {
  return type == DType::kF32 || type == DType::kF64;
}

// Returns the element as a constant expression of C.
std::string ElementText(DType type, const uint8_t* data, int64_t index) {
  const uint64_t bits = tensor::LoadElement(data, index, type);
  if (!IsInUnion(type))
    return jit::c_like::LiteralOf(jit::c::kLanguage, type, bits);
  char text[24];
  std::snprintf(text, sizeof text, "0x%llxu",
                static_cast<unsigned long long>(bits));
  return text;
}

std::string Elements(DType type, std::span<const uint8_t> bytes) {
  const auto count = static_cast<int64_t>(bytes.size()) / DTypeByteSize(type);
  // C has no empty arrays.
  if (count == 0) return " 0";
  std::string text;
  size_t line = kMaxInLine;
  for (int64_t i = 0; i < count; ++i) {
    const std::string element = ElementText(type, bytes.data(), i) + ",";
    if (line + 1 + element.size() > kMaxInLine) {
      text += "\n   ";
      line = 3;
    }
    text += " " + element;
    line += 1 + element.size();
  }
  return text;
}

}  // namespace

std::string_view CTypeOf(DType type) {
  return jit::c_like::TypeOf(jit::c::kLanguage, type);
}

std::string ConstantArrays::Add(DType type, std::span<const uint8_t> bytes) {
  const std::string_view contents(reinterpret_cast<const char*>(bytes.data()),
                                  bytes.size());
  std::string& name = names_[{type, contents}];
  if (!name.empty()) return name;
  name = Concat({"ember_constant", names_.size() - 1});
  const int64_t count = std::max<int64_t>(
      static_cast<int64_t>(bytes.size()) / DTypeByteSize(type), 1);
  const std::string elements = Elements(type, bytes);
  const std::string alignment =
      Concat({"static const _Alignas(", kBlockAlignment, ") "});
  bytes_ += RoundUp(count * DTypeByteSize(type), kBlockAlignment);
  if (IsInUnion(type)) {
    const std::string_view bits = type == DType::kF32 ? "uint32_t" : "uint64_t";
    text_ += Concat({alignment, "union {\n  ", bits, " bits[", count, "];\n  ",
                     CTypeOf(type), " values[", count, "];\n} ", name, " = {{",
                     elements, "}};\n\n"});
    name += ".values";
    return name;
  }
  text_ += Concat({alignment, CTypeOf(type), " ", name, "[", count, "] = {",
                   elements, "};\n\n"});
  return name;
}

}  // namespace ember::tools
