#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/checked_math.h"
#include "vm/isa/program_text.h"

namespace ember::vm {
namespace {

// Calls visit with a null pointer to the C++ type that stores elements of the
// DType, so that visit gets this type as a template argument.
template <typename Visit>
auto VisitType(DType type, const Visit& visit) {
  switch (type) {
#define EMBER_ROW(name, text, storage, bits, kind) \
  case DType::k##name:                             \
    return visit(static_cast<storage*>(nullptr));
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  return visit(static_cast<uint8_t*>(nullptr));
}

template <typename T>
std::string NumberText(T value) {
  char buffer[64];
  return std::string(buffer,
                     std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

// Returns a text of one element from which the parser reads the same value.
// Returns nullopt for a NaN, which can only be written as its bits.
template <typename T>
std::optional<std::string> ElementText(const uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  if constexpr (NarrowFloat<T>) {
    const float wide = ToFloat(value);
    if (std::isnan(wide)) return std::nullopt;
    return NumberText(wide);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::nullopt;
    return NumberText(value);
  } else {
    return NumberText(
        static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(
            value));
  }
}

template <typename T>
bool ParseNumber(std::string_view text, bool negative, T* value) {
  const std::string signed_text = (negative ? "-" : "") + std::string(text);
  const char* end = signed_text.data() + signed_text.size();
  if constexpr (NarrowFloat<T>) {
    float wide = 0;
    if (!ParseNumber(text, negative, &wide)) return false;
    *value = ToNarrowFloat<T>(wide);
    return true;
  } else {
    const std::from_chars_result result =
        std::from_chars(signed_text.data(), end, *value);
    return result.ec == std::errc() && result.ptr == end;
  }
}

std::string HexText(std::span<const uint8_t> data) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : data) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return "hex \"" + text + "\"";
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

Status ParseHex(Lexer& lexer, uint8_t* data, size_t size) {
  EMBER_ASSIGN_OR_RETURN(const Token token,
                         lexer.Expect(Token::kString, "hex digits"));
  EMBER_ASSIGN_OR_RETURN(const std::string digits, StringValue(token));
  if (digits.size() != 2 * size) {
    return ErrorAt(token, "expected " + std::to_string(2 * size) +
                              " hex digits, found " +
                              std::to_string(digits.size()));
  }
  for (size_t i = 0; i < size; ++i) {
    const int high = HexDigit(digits[2 * i]), low = HexDigit(digits[2 * i + 1]);
    if (high < 0 || low < 0) return ErrorAt(token, "expected hex digits");
    data[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return OkStatus();
}

template <typename T>
Status ParseElements(Lexer& lexer, uint8_t* data, size_t count) {
  EMBER_RETURN_IF_ERROR(lexer.Expect("["));
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) EMBER_RETURN_IF_ERROR(lexer.Expect(","));
    const bool negative = lexer.Accept("-");
    T value;
    if (!ParseNumber(lexer.Peek().text, negative, &value)) {
      return lexer.ExpectedError("a value of the constant's type");
    }
    lexer.Next();
    std::memcpy(data + i * sizeof(T), &value, sizeof(T));
  }
  return lexer.Expect("]");
}

}  // namespace

std::string ConstantValuesText(const Constant& constant) {
  const std::optional<std::string> text =
      VisitType(constant.type, [&](auto* tag) {
        using T = std::remove_pointer_t<decltype(tag)>;
        std::optional<std::string> values = "[";
        for (size_t i = 0; values && i + sizeof(T) <= constant.data.size();
             i += sizeof(T)) {
          const std::optional<std::string> element =
              ElementText<T>(constant.data.data() + i);
          if (!element) return std::optional<std::string>();
          *values += (i > 0 ? ", " : "") + *element;
        }
        *values += "]";
        return values;
      });
  return text ? *text : HexText(constant.data);
}

Status ParseConstantValues(Lexer& lexer, Constant& constant) {
  const Token start = lexer.Peek();
  std::optional<int64_t> count = 1;
  for (int64_t dim : constant.dims) {
    if (count) count = CheckedMultiply(*count, dim);
  }
  // Largest number of elements of a constant in a text. Its memory is allocated
  // before the values are parsed, and a larger text would not be useful to a
  // reader.
  constexpr int64_t kMax = int64_t{1} << 28;
  if (!count || *count < 0 || *count > kMax) {
    return ErrorAt(start, "constant '" + constant.name +
                              "': expected at most " + std::to_string(kMax) +
                              " elements, found more");
  }
  const size_t element_size = static_cast<size_t>(DTypeByteSize(constant.type));
  const size_t size = static_cast<size_t>(*count) * element_size;
  const size_t room = (size + 63) / 64 * 64;
  std::shared_ptr<void> memory(
      std::aligned_alloc(64, std::max<size_t>(room, 64)), std::free);
  if (memory == nullptr)
    return ResourceExhaustedError("constant '" + constant.name +
                                  "': no memory");
  uint8_t* data = static_cast<uint8_t*>(memory.get());
  constant.data = {data, size};
  constant.owner = std::move(memory);
  if (lexer.Accept("hex")) return ParseHex(lexer, data, size);
  return VisitType(constant.type, [&](auto* tag) {
    return ParseElements<std::remove_pointer_t<decltype(tag)>>(
        lexer, data, static_cast<size_t>(*count));
  });
}

}  // namespace ember::vm
