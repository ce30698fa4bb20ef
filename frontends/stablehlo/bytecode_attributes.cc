#include "frontends/stablehlo/bytecode_attributes.h"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "base/one_line.h"
#include "frontends/stablehlo/elements.h"

namespace ember::stablehlo {
namespace {

// Largest size of one attribute or type with all of its parts. Entries refer to
// each other by number, so a small file could otherwise expand without bound.
constexpr int64_t kMaxSize = 1 << 20;

Type Scalar(std::string_view element) {
  Type type;
  type.kind = Type::Kind::kScalar;
  type.element = std::string(element);
  return type;
}

Attribute Word(Attribute::Kind kind, std::string text) {
  Attribute attribute;
  attribute.kind = kind;
  attribute.text = std::move(text);
  return attribute;
}

int BitsOf(std::string_view element) {
  if (element == "i1") return 1;
  return static_cast<int>(8 * ElementBytes(element).value_or(8));
}

// Words of the enumerations of vhlo, in the order of their numbers.
constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kCompareTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER",
                                              "SIGNED", "UNSIGNED"};
constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr std::string_view kAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr std::string_view kDistributions[] = {"INVALID", "UNIFORM", "NORMAL"};
constexpr std::string_view kTransposes[] = {"INVALID", "NO_TRANSPOSE",
                                            "TRANSPOSE", "ADJOINT"};

// Element types by vhlo's codes; empty for types that are read elsewhere.
constexpr std::string_view kVhloElements[] = {
    "i1",     "",    "bf16",  "f16",  "f32",  "f64", "f8E4M3FN",
    "f8E5M2", "",    "index", "i4",   "i8",   "i16", "i32",
    "i64",    "ui4", "ui8",   "ui16", "ui32", "ui64"};

}  // namespace

template <typename T>
T BytecodeAttributes::Parsed(StatusOr<T> (AttributeParser::*parse)(),
                             BytecodeCursor& cursor) {
  AttributeParser parser(cursor.Terminated());
  StatusOr<T> parsed = (parser.*parse)();
  if (parsed.ok()) return *std::move(parsed);
  Fail(parsed.status());
  return {};
}

template <>
Attribute BytecodeAttributes::ReadEntry(const EncodedEntry& entry,
                                        BytecodeCursor& cursor) {
  if (entry.is_text) return Parsed(&AttributeParser::ParseAttribute, cursor);
  if (entry.dialect == "builtin") return ReadBuiltin(cursor);
  if (entry.dialect == "vhlo") return ReadVhlo(cursor);
  return Word(Attribute::Kind::kOther, std::string(entry.dialect));
}

template <>
Type BytecodeAttributes::ReadEntry(const EncodedEntry& entry,
                                   BytecodeCursor& cursor) {
  if (entry.is_text) return Parsed(&AttributeParser::ParseType, cursor);
  if (entry.dialect == "builtin") return ReadBuiltinType(cursor);
  if (entry.dialect == "vhlo") return ReadVhloType(cursor);
  Type type;
  type.element = "!" + std::string(entry.dialect);
  return type;
}

template <typename T>
StatusOr<const BytecodeAttributes::Known<T>*> BytecodeAttributes::Find(
    Table<T>& table, uint64_t number) {
  const auto found = table.known.find(number);
  if (found != table.known.end()) return &found->second;
  const std::string what =
      std::string(table.kind) + " " + std::to_string(number);
  if (number >= table.entries.size())
    return DataLossError(what + ": expected one of " +
                         std::to_string(table.entries.size()));
  if (depth_ >= kMaxDepth)
    return DataLossError(what + ": expected at most " +
                         std::to_string(kMaxDepth) + " in each other");
  const EncodedEntry& entry = table.entries[number];
  const Extent extent_before = std::exchange(extent_, Extent());
  const Status status_before = std::exchange(status_, OkStatus());
  ++depth_;
  BytecodeCursor cursor(entry.bytes);
  Known<T> known;
  known.value = ReadEntry<T>(entry, cursor);
  --depth_;
  known.extent = std::exchange(extent_, extent_before);
  if (entry.is_text)
    known.extent = ExtentOf(known.value);
  else
    known.extent.size += OwnTextSize(known.value);
  const Status status = std::exchange(status_, status_before);
  if (!status.ok()) return status.WithContext(what);
  if (!cursor.ok() || known.extent.size > kMaxSize ||
      known.extent.depth > kMaxDepth)
    return DataLossError(what + ": damaged");
  return &table.known.emplace(number, std::move(known)).first->second;
}

template <typename T>
StatusOr<T> BytecodeAttributes::Get(Table<T>& table, uint64_t number) {
  EMBER_ASSIGN_OR_RETURN(const Known<T>* known, Find(table, number));
  given_ += known->extent.size;
  if (given_ > kMaxNamedSize)
    return ResourceExhaustedError(
        "bytecode: expected attributes and types of at most " +
        std::to_string(kMaxNamedSize) + " values in all");
  return known->value;
}

StatusOr<Attribute> BytecodeAttributes::GetAttribute(uint64_t number) {
  return Get(attributes_, number);
}

StatusOr<Type> BytecodeAttributes::GetType(uint64_t number) {
  return Get(types_, number);
}

// --- parts ---

template <typename T>
T BytecodeAttributes::Next(Table<T>& table, BytecodeCursor& cursor) {
  const uint64_t number = cursor.Varint();
  if (!cursor.ok() || !status_.ok() || extent_.size > kMaxSize) return {};
  const auto known = Find(table, number);
  if (!known.ok()) {
    Fail(known.status());
    return {};
  }
  extent_.Add((*known)->extent);
  return extent_.size > kMaxSize ? T() : (*known)->value;
}

std::string BytecodeAttributes::NextString(BytecodeCursor& cursor) {
  const uint64_t number = cursor.Varint();
  if (number < strings_.size()) return std::string(strings_[number]);
  cursor.Fail();
  return "";
}

std::vector<Type> BytecodeAttributes::NextTypes(BytecodeCursor& cursor) {
  std::vector<Type> types;
  const uint64_t count = cursor.Count();
  for (uint64_t i = 0; i < count && cursor.ok() && status_.ok(); ++i)
    types.push_back(NextType(cursor));
  return types;
}

// A number of up to 8 bits is encoded as a byte, a number of up to 64 bits as a
// signed varint.
Attribute BytecodeAttributes::NextNumber(BytecodeCursor& cursor,
                                         bool is_float) {
  Attribute attribute;
  attribute.type = NextType(cursor);
  const std::string& element = attribute.type.element;
  const int bits = BitsOf(element);
  const uint64_t value =
      bits <= 8 ? cursor.Byte() : static_cast<uint64_t>(cursor.SignedVarint());
  attribute.kind =
      is_float ? Attribute::Kind::kFloat : Attribute::Kind::kInteger;
  if (!is_float) {
    attribute.integer = static_cast<int64_t>(value);
    if (bits == 8 && element == "i8")
      attribute.integer = int64_t{static_cast<int8_t>(value)};
    if (element == "i1") attribute.kind = Attribute::Kind::kBool;
  } else if (element == "f64") {
    attribute.number = std::bit_cast<double>(value);
  } else if (element == "f32") {
    attribute.number = std::bit_cast<float>(static_cast<uint32_t>(value));
  } else if (element == "f16") {
    attribute.number = ToFloat(Float16{static_cast<uint16_t>(value)});
  } else if (element == "bf16") {
    attribute.number = ToFloat(BFloat16{static_cast<uint16_t>(value)});
  } else {
    attribute.kind = Attribute::Kind::kOther;
  }
  return attribute;
}

Attribute BytecodeAttributes::NextElements(BytecodeCursor& cursor) {
  Attribute attribute;
  attribute.type = NextType(cursor);
  const auto blob = cursor.Take(cursor.Varint());
  if (!cursor.ok() || !status_.ok() || !attribute.type.is_tensor()) {
    cursor.Fail();
    return attribute;
  }
  auto elements =
      owner_ == nullptr
          ? ElementsOfBytes({blob.begin(), blob.end()}, attribute.type)
          : ElementsOfHeld({.owner = owner_, .bytes = blob}, attribute.type);
  if (elements.ok()) {
    attribute.kind = Attribute::Kind::kElements;
    attribute.elements = std::make_shared<const Elements>(*std::move(elements));
  } else {
    Fail(elements.status());
  }
  return attribute;
}

Attribute BytecodeAttributes::NextList(BytecodeCursor& cursor) {
  Attribute list;
  list.kind = Attribute::Kind::kArray;
  const uint64_t count = cursor.Count();
  for (uint64_t i = 0; i < count && cursor.ok() && status_.ok(); ++i)
    list.array.push_back(NextAttribute(cursor));
  return list;
}

Attribute BytecodeAttributes::NextDictionary(BytecodeCursor& cursor) {
  Attribute dictionary;
  dictionary.kind = Attribute::Kind::kDictionary;
  const uint64_t count = cursor.Count();
  for (uint64_t i = 0; i < count && cursor.ok() && status_.ok(); ++i) {
    const Attribute name = NextAttribute(cursor);
    dictionary.entries.push_back({name.text, NextAttribute(cursor)});
  }
  return dictionary;
}

// Reads array<i64: …>.
Attribute BytecodeAttributes::NextDenseArray(BytecodeCursor& cursor) {
  Attribute attribute;
  attribute.type = NextType(cursor);
  const uint64_t count = cursor.Varint();
  const auto blob = cursor.Take(cursor.Varint());
  const std::string& element = attribute.type.element;
  const auto width = static_cast<uint64_t>(ElementBytes(element).value_or(0));
  if (!cursor.ok() || width == 0 || width > 8 || count != blob.size() / width ||
      count > static_cast<uint64_t>(kMaxSize)) {
    cursor.Fail();
    return attribute;
  }
  extent_.size += static_cast<int64_t>(count);
  const auto dtype = DTypeOf(element);
  const bool floats = dtype && IsFloat(*dtype);
  attribute.kind =
      floats ? Attribute::Kind::kNumbers : Attribute::Kind::kIntegers;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, blob.data() + i * width, width);
    if (element == "f64") {
      attribute.numbers.push_back(std::bit_cast<double>(bits));
    } else if (floats) {
      attribute.numbers.push_back(
          std::bit_cast<float>(static_cast<uint32_t>(bits)));
    } else {
      const int unused = 64 - 8 * static_cast<int>(width);
      attribute.integers.push_back(static_cast<int64_t>(bits << unused) >>
                                   unused);
    }
  }
  return attribute;
}

Attribute BytecodeAttributes::NextEnum(
    BytecodeCursor& cursor, std::span<const std::string_view> words) {
  const uint64_t value = cursor.Varint();
  return Word(Attribute::Kind::kEnum, value < words.size()
                                          ? std::string(words[value])
                                          : std::to_string(value));
}

// The functions below read attributes and types of each dialect.

Attribute BytecodeAttributes::ReadBuiltin(BytecodeCursor& cursor) {
  switch (cursor.Varint()) {
    case 0:
      return NextList(cursor);
    case 1:
      return NextDictionary(cursor);
    case 2:
    case 3:  // Code 3 is a string attribute with a type; the type is ignored.
      return Word(Attribute::Kind::kString, NextString(cursor));
    case 4:
    // Code 5 is a reference to a symbol inside of another symbol; only the
    // outer one is kept.
    case 5:
      return Word(Attribute::Kind::kSymbol, NextAttribute(cursor).text);
    case 6: {
      Attribute attribute;
      attribute.kind = Attribute::Kind::kType;
      attribute.type = NextType(cursor);
      return attribute;
    }
    case 7:
      return {};
    case 8:
      return NextNumber(cursor, false);
    case 9:
      return NextNumber(cursor, true);
    case 16:
      Fail(UnimplementedError("resources of bytecode are not read"));
      return {};
    case 17:
      return NextDenseArray(cursor);
    case 18:
      return NextElements(cursor);
    // The other codes of builtin attributes are locations, which Ember ignores,
    // and attributes that StableHLO does not use.
    default:
      return Word(Attribute::Kind::kOther, "builtin");
  }
}

Attribute BytecodeAttributes::ReadVhlo(BytecodeCursor& cursor) {
  switch (cursor.Varint()) {
    case 1:
      return NextList(cursor);
    case 2: {
      Attribute attribute;
      attribute.kind = Attribute::Kind::kBool;
      attribute.integer = cursor.Varint() != 0 ? 1 : 0;
      attribute.type = Scalar("i1");
      return attribute;
    }
    case 3:
      return NextEnum(cursor, kDirections);
    case 4:
      return NextEnum(cursor, kCompareTypes);
    case 6:
      return NextDictionary(cursor);
    case 7:
      return NextEnum(cursor, kFftTypes);
    case 8:
      return NextNumber(cursor, true);
    case 9:
      return NextNumber(cursor, false);
    case 11:
      return NextEnum(cursor, kPrecisions);
    case 12:
      return NextEnum(cursor, kAlgorithms);
    case 13:
      return NextEnum(cursor, kDistributions);
    case 14:
      return Word(Attribute::Kind::kString, NextString(cursor));
    case 15:
      return NextElements(cursor);
    case 16:
      return NextEnum(cursor, kTransposes);
    case 17: {
      Attribute attribute;
      attribute.kind = Attribute::Kind::kType;
      attribute.type = NextType(cursor);
      return attribute;
    }
    // The other codes of vhlo attributes are output aliases, API versions, type
    // bounds and result accuracies, which Ember ignores.
    default:
      return Word(Attribute::Kind::kOther, "vhlo");
  }
}

Type BytecodeAttributes::NextTensor(BytecodeCursor& cursor) {
  Type type;
  type.kind = Type::Kind::kTensor;
  const uint64_t rank = cursor.Count();
  if (rank > 64) cursor.Fail();
  for (uint64_t i = 0; i < rank && cursor.ok(); ++i) {
    const int64_t dim = cursor.SignedVarint();
    // The smallest 64-bit integer means an open dim; earlier versions of the
    // format used -1.
    type.dims.push_back(dim < 0 ? kDynamic : dim);
  }
  type.element = ToString(NextType(cursor));
  return type;
}

Type BytecodeAttributes::ReadBuiltinType(BytecodeCursor& cursor) {
  Type type;
  const uint64_t code = cursor.Varint();
  switch (code) {
    case 0: {
      const uint64_t width_and_sign = cursor.Varint();
      static constexpr std::string_view kSigns[] = {"i", "si", "ui", "i"};
      if (width_and_sign >> 2 > 64) cursor.Fail();
      return Scalar(std::string(kSigns[width_and_sign & 3]) +
                    std::to_string(width_and_sign >> 2));
    }
    case 1:
      return Scalar("index");
    case 2:
      type.kind = Type::Kind::kFunction;
      type.inputs = NextTypes(cursor);
      type.results = NextTypes(cursor);
      return type;
    case 3:
      return Scalar("bf16");
    case 4:
      return Scalar("f16");
    case 5:
      return Scalar("f32");
    case 6:
      return Scalar("f64");
    case 9:
      return Scalar("complex<" + ToString(NextType(cursor)) + ">");
    case 13:
      return NextTensor(cursor);
    case 14:
      NextAttribute(cursor);
      return NextTensor(cursor);
    case 15:
      type.kind = Type::Kind::kTuple;
      type.results = NextTypes(cursor);
      return type;
    default:
      type.element = "builtin type " + std::to_string(code);
      return type;
  }
}

Type BytecodeAttributes::ReadVhloType(BytecodeCursor& cursor) {
  Type type;
  const uint64_t code = cursor.Varint();
  if (code < std::size(kVhloElements) && !kVhloElements[code].empty())
    return Scalar(kVhloElements[code]);
  switch (code) {
    case 1:
      return Scalar("complex<" + ToString(NextType(cursor)) + ">");
    case 8:
      type.kind = Type::Kind::kFunction;
      type.inputs = NextTypes(cursor);
      type.results = NextTypes(cursor);
      return type;
    case 20:
      return NextTensor(cursor);
    case 21:
      NextAttribute(cursor);
      return NextTensor(cursor);
    case 22:
      type.kind = Type::Kind::kToken;
      return type;
    case 23:
      type.kind = Type::Kind::kTuple;
      type.results = NextTypes(cursor);
      return type;
    default:
      type.element = "vhlo type " + std::to_string(code);
      return type;
  }
}

}  // namespace ember::stablehlo
