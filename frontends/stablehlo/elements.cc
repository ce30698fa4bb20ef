#include "frontends/stablehlo/elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/model_bytes.h"

namespace ember::stablehlo {
namespace {

template <typename T>
void Append(T value, std::vector<uint8_t>& bytes) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

Elements Owned(std::vector<uint8_t> bytes, bool splat) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  Elements elements;
  elements.bytes = *owner;
  elements.owner = std::move(owner);
  elements.splat = splat;
  return elements;
}

bool IsHex(const Token& token) { return token.text.starts_with("0x"); }

int BitsOf(std::string_view element) {
  const auto dtype = DTypeOf(element);
  if (element == "i1") return 1;
  if (dtype) return 8 * DTypeByteSize(*dtype);
  // Element types without a DType are integers of 4 or 2 bits, such as "i4" and
  // "ui2".
  return element.ends_with("2") ? 2 : 4;
}

// Appends an integer of at most 64 bits in the element's encoding.
Status AppendInteger(const Token& token, bool negative,
                     std::string_view element, std::vector<uint8_t>& bytes) {
  EMBER_ASSIGN_OR_RETURN(const uint64_t magnitude, IntegerValue(token));
  const int bits = BitsOf(element);
  const bool is_unsigned = element.starts_with("ui");
  const uint64_t most = bits == 64 ? std::numeric_limits<uint64_t>::max()
                                   : (uint64_t{1} << bits) - 1;
  // A signless type accepts the ranges of both its signed and its unsigned
  // form.
  const uint64_t least = bits == 1 ? 1 : uint64_t{1} << (bits - 1);
  const bool fits = negative
                        ? (magnitude == 0 || !is_unsigned) && magnitude <= least
                        : magnitude <= most;
  if (!fits) {
    return ErrorAt(token, "expected a number that " + std::string(element) +
                              " holds, found '" + (negative ? "-" : "") +
                              std::string(token.text) + "'");
  }
  const uint64_t value = negative ? ~magnitude + 1 : magnitude;
  switch (*ElementBytes(element)) {
    case 1:
      Append(static_cast<uint8_t>(bits == 1 ? value & 1 : value), bytes);
      break;
    case 2:
      Append(static_cast<uint16_t>(value), bytes);
      break;
    case 4:
      Append(static_cast<uint32_t>(value), bytes);
      break;
    default:
      Append(value, bytes);
  }
  return OkStatus();
}

Status AppendFloat(const Token& token, bool negative, std::string_view element,
                   std::vector<uint8_t>& bytes) {
  EMBER_ASSIGN_OR_RETURN(const double value,
                         FloatValue(token, negative, element));
  if (IsHex(token)) {
    // Copies the bits themselves, so that a NaN keeps its payload.
    EMBER_ASSIGN_OR_RETURN(const uint64_t bits, IntegerValue(token));
    if (element == "f64") {
      Append(bits, bytes);
    } else if (element == "f32") {
      Append(static_cast<uint32_t>(bits), bytes);
    } else {
      Append(static_cast<uint16_t>(bits), bytes);
    }
    return OkStatus();
  }
  if (element == "f64") {
    Append(value, bytes);
  } else if (element == "f32") {
    Append(static_cast<float>(value), bytes);
  } else if (element == "f16") {
    Append(ToFloat16(value).bits, bytes);
  } else {
    Append(ToBFloat16(value).bits, bytes);
  }
  return OkStatus();
}

Status AppendScalar(MlirLexer& lexer, std::string_view element,
                    std::vector<uint8_t>& bytes) {
  const bool negative = lexer.Accept("-");
  const Token token = lexer.Next();
  if (token.Is("true") || token.Is("false")) {
    if (element != "i1" || negative)
      return ErrorAt(token, "expected a number of type " +
                                std::string(element) + ", found '" +
                                std::string(token.text) + "'");
    bytes.push_back(token.Is("true") ? 1 : 0);
    return OkStatus();
  }
  if (token.kind != Token::kInteger && token.kind != Token::kFloat)
    return ErrorAt(token, "expected a number, found '" +
                              OnOneLine(token.text.substr(0, 40)) + "'");
  const auto dtype = DTypeOf(element);
  if (dtype && IsFloat(*dtype))
    return AppendFloat(token, negative, element, bytes);
  if (token.kind == Token::kFloat)
    return ErrorAt(
        token, "expected an integer, found '" + std::string(token.text) + "'");
  return AppendInteger(token, negative, element, bytes);
}

Status AppendElement(MlirLexer& lexer, std::string_view element,
                     std::vector<uint8_t>& bytes) {
  if (!element.starts_with("complex<"))
    return AppendScalar(lexer, element, bytes);
  const std::string_view part =
      element.substr(8, element.size() - 9);  // without complex<>
  EMBER_RETURN_IF_ERROR(lexer.Expect("("));
  EMBER_RETURN_IF_ERROR(AppendScalar(lexer, part, bytes));
  EMBER_RETURN_IF_ERROR(lexer.Expect(","));
  EMBER_RETURN_IF_ERROR(AppendScalar(lexer, part, bytes));
  return lexer.Expect(")");
}

Status CheckWritable(const Token& at, std::string_view element) {
  if (ElementBytes(element) && !element.starts_with("f8")) return OkStatus();
  return ErrorAt(at, "unsupported element type '" +
                         OnOneLine(element.substr(0, 80)) + "' of a constant");
}

}  // namespace

StatusOr<int64_t> ElementCountOf(const Type& type) {
  std::optional<int64_t> count = 1;
  for (const int64_t dim : type.dims) {
    if (dim < 0)
      return InvalidArgumentError("expected a constant of known dims, found " +
                                  ToString(type));
    if (count) count = CheckedMultiply(*count, dim);
  }
  if (!count || !CheckedMultiply(*count, 16))
    return InvalidArgumentError("expected a constant within 64 bits, found " +
                                ToString(type));
  return *count;
}

StatusOr<double> FloatValue(const Token& token, bool negative,
                            std::string_view element) {
  double value = 0;
  if (IsHex(token)) {
    EMBER_ASSIGN_OR_RETURN(const uint64_t bits, IntegerValue(token));
    const int64_t width = ElementBytes(element).value_or(8);
    if (negative || (width < 8 && bits >> (8 * width) != 0))
      return ErrorAt(token, "expected the bits of " + std::string(element) +
                                ", found '" + std::string(token.text) + "'");
    if (element == "f16") {
      value = ToFloat(Float16{static_cast<uint16_t>(bits)});
    } else if (element == "bf16") {
      value = ToFloat(BFloat16{static_cast<uint16_t>(bits)});
    } else if (element == "f32") {
      value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    } else {
      value = std::bit_cast<double>(bits);
    }
    return value;
  }
  const char* const end = token.text.data() + token.text.size();
  const auto result = std::from_chars(token.text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {
    // The literal does not fit in a double: it is too large (infinity), or so
    // small that it is rounded to 0.
    const bool small = token.text.find("e-") != std::string_view::npos ||
                       token.text.find("E-") != std::string_view::npos;
    value = small ? 0.0 : std::numeric_limits<double>::infinity();
  } else if (result.ec != std::errc() || result.ptr != end) {
    return ErrorAt(token, "expected a number, found '" +
                              OnOneLine(token.text.substr(0, 40)) + "'");
  }
  return negative ? -value : value;
}

StatusOr<int64_t> SignedValue(const Token& token, bool negative) {
  EMBER_ASSIGN_OR_RETURN(const uint64_t magnitude, IntegerValue(token));
  if (negative && magnitude > uint64_t{1} << 63)
    return ErrorAt(token, "expected an integer within 64 bits");
  return static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
}

StatusOr<std::vector<uint8_t>> BytesOfHex(std::string_view digits) {
  if (digits.size() % 2 != 0)
    return InvalidArgumentError("expected an even number of hex digits");
  // The values of hex digits come from a table for speed: weights have hundreds
  // of millions of digits.
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int8_t>(HexDigit(static_cast<char>(i)));
    return values;
  }();
  const auto value_of = [&](char digit) -> int {
    return kValues[static_cast<uint8_t>(digit)];
  };
  std::vector<uint8_t> bytes(digits.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = value_of(digits[2 * i]);
    const int low = value_of(digits[2 * i + 1]);
    if (high < 0 || low < 0)
      return InvalidArgumentError("expected hex digits, found '" +
                                  OnOneLine(digits.substr(2 * i, 2)) + "'");
    bytes[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return bytes;
}

StatusOr<Elements> ElementsOfBytes(std::vector<uint8_t> bytes,
                                   const Type& type) {
  EMBER_ASSIGN_OR_RETURN(const int64_t count, ElementCountOf(type));
  const std::optional<int64_t> width = ElementBytes(type.element);
  if (!width)
    return UnimplementedError("unsupported element type '" +
                              OnOneLine(type.element.substr(0, 80)) +
                              "' of a constant");
  const auto found = static_cast<int64_t>(bytes.size());
  if (found == count * *width) {
    if (type.element == "i1")
      for (uint8_t& byte : bytes) byte = byte != 0 ? 1 : 0;
    return Owned(std::move(bytes), false);
  }
  if (type.element == "i1" && found == (count + 7) / 8) {
    std::vector<uint8_t> bools(static_cast<size_t>(count));
    for (size_t i = 0; i < bools.size(); ++i)
      bools[i] = bytes[i / 8] >> (i % 8) & 1;
    return Owned(std::move(bools), false);
  }
  if (found == *width) {
    if (type.element == "i1") bytes[0] = bytes[0] != 0 ? 1 : 0;
    return Owned(std::move(bytes), true);
  }
  return DataLossError("expected " + std::to_string(count * *width) +
                       " bytes for " + ToString(type) + ", found " +
                       std::to_string(found));
}

StatusOr<Elements> ElementsOfHeld(const Elements& held, const Type& type) {
  EMBER_ASSIGN_OR_RETURN(const int64_t count, ElementCountOf(type));
  const std::optional<int64_t> width = ElementBytes(type.element);
  const bool whole = width && type.element != "i1" &&
                     static_cast<int64_t>(held.bytes.size()) == count * *width;
  // The bytes must be aligned to the element's size, but to at most 8 bytes: a
  // complex number needs only the alignment of its parts.
  if (whole) {
    graph::ConstantData data = frontends::AlignedData(
        held.bytes, static_cast<size_t>(std::min<int64_t>(*width, 8)),
        held.owner);
    return Elements{.owner = std::move(data.owner), .bytes = data.bytes};
  }
  return ElementsOfBytes({held.bytes.begin(), held.bytes.end()}, type);
}

StatusOr<Elements> ParseElements(MlirLexer& lexer, const Type& type) {
  const Token at = lexer.Peek();
  const auto count_or = ElementCountOf(type);
  if (!count_or.ok()) return ErrorAt(at, count_or.status().message());
  const int64_t count = *count_or;
  if (at.kind == Token::kString) {
    lexer.Next();
    if (at.text.size() < 4 || !at.text.starts_with("\"0x") ||
        at.text.back() != '"')
      return ErrorAt(at, "expected hex digits after 0x");
    StatusOr<std::vector<uint8_t>> bytes =
        BytesOfHex(at.text.substr(3, at.text.size() - 4));
    if (!bytes.ok()) return ErrorAt(at, bytes.status().message());
    StatusOr<Elements> elements = ElementsOfBytes(*std::move(bytes), type);
    if (!elements.ok()) return ErrorAt(at, elements.status().message());
    return elements;
  }
  EMBER_RETURN_IF_ERROR(CheckWritable(at, type.element));
  std::vector<uint8_t> bytes;
  if (lexer.Peek().Is(">")) {
    if (count != 0)
      return ErrorAt(at,
                     "expected elements of " + ToString(type) + ", found none");
    return Owned(std::move(bytes), false);
  }
  if (!lexer.Peek().Is("[")) {
    EMBER_RETURN_IF_ERROR(AppendElement(lexer, type.element, bytes));
    return Owned(std::move(bytes), true);
  }
  // Number of items read so far in each list whose bracket is still open.
  std::vector<int64_t> parts;
  const size_t rank = type.dims.size();
  const auto wrong = [&](const Token& token) {
    return ErrorAt(token, "expected lists as " + ToString(type) + " has them");
  };
  do {
    const Token token = lexer.Peek();
    bool closes = false;
    if (lexer.Accept("[")) {
      if (parts.size() == rank) return wrong(token);
      parts.push_back(0);
      if (!lexer.Accept("]")) continue;
      closes = true;
    } else {
      if (parts.size() != rank) return wrong(token);
      EMBER_RETURN_IF_ERROR(AppendElement(lexer, type.element, bytes));
      ++parts.back();
      if (lexer.Accept(",")) continue;
    }
    while (closes || lexer.Accept("]")) {
      closes = false;
      if (parts.empty() || parts.back() != type.dims[parts.size() - 1])
        return wrong(token);
      parts.pop_back();
      if (!parts.empty()) ++parts.back();
    }
    if (parts.empty()) break;
    EMBER_RETURN_IF_ERROR(lexer.Expect(","));
  } while (true);
  return Owned(std::move(bytes), false);
}

std::vector<int64_t> IntegersOf(const Elements& elements, const Type& type,
                                int64_t most) {
  const auto dtype = DTypeOf(type.element);
  const auto count = ElementCountOf(type);
  std::vector<int64_t> values;
  if (!dtype || IsFloat(*dtype) || !count.ok() || *count > most) return values;
  const auto width = static_cast<size_t>(DTypeByteSize(*dtype));
  const size_t held = elements.bytes.size() / width;
  for (int64_t i = 0; i < *count; ++i) {
    const size_t at = elements.splat ? 0 : static_cast<size_t>(i);
    if (at >= held) return {};
    uint64_t bits = 0;
    std::memcpy(&bits, elements.bytes.data() + at * width, width);
    const int unused = 64 - 8 * static_cast<int>(width);
    values.push_back(IsSigned(*dtype)
                         ? static_cast<int64_t>(bits << unused) >> unused
                         : static_cast<int64_t>(bits));
  }
  return values;
}

}  // namespace ember::stablehlo
