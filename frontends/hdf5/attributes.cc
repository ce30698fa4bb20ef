// Reads attributes, and the messages that describe types and extents.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/hdf5/file.h"
#include "frontends/hdf5/message_types.h"

namespace ember::hdf5 {
namespace {

constexpr uint64_t kMaxRank = 32;
constexpr int64_t kMaxElements = int64_t{1} << 40;
// Bytes that one search for an attribute is charged against the file's read
// budget.
constexpr uint64_t kBytesPerSearch = 32;

Status Malformed(std::string_view what) {
  return DataLossError("HDF5 " + std::string(what) + ": malformed");
}

std::string_view ClassName(uint64_t number) {
  constexpr std::string_view kNames[] = {
      "an integer",         "a float",     "a time",
      "a string",           "a bit field", "opaque",
      "a compound",         "a reference", "an enumeration",
      "of variable length", "an array"};
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

constexpr uint64_t Padded(uint64_t size) { return (size + 7) / 8 * 8; }

}  // namespace

StatusOr<File::Type> File::ReadType(std::span<const uint8_t> message) const {
  ByteCursor in(message);
  Type type;
  type.description = in.Unsigned(1) & 0x0f;
  const uint64_t bits = in.Unsigned(3);
  type.size = in.Unsigned(4);
  switch (type.description) {
    case 0: {
      const uint64_t offset = in.Unsigned(2);
      const uint64_t precision = in.Unsigned(2);
      type.is_big_endian = (bits & 1) != 0;
      type.is_signed = (bits & 8) != 0;
      if (offset == 0 && precision == type.size * 8)
        type.kind = Type::Kind::kInteger;
      break;
    }
    case 1: {
      const uint64_t offset = in.Unsigned(2);
      const uint64_t precision = in.Unsigned(2);
      in.Skip(1);
      const uint64_t exponent = in.Unsigned(1);
      in.Skip(1);
      const uint64_t mantissa = in.Unsigned(1);
      // Bits 0 and 6 of a float type give the byte order. Bit 6 is set only for
      // VAX floats, which are not supported.
      const bool vax = (bits & 0x40) != 0;
      type.is_big_endian = (bits & 1) != 0;
      const bool ieee = (type.size == 2 && exponent == 5 && mantissa == 10) ||
                        (type.size == 4 && exponent == 8 && mantissa == 23) ||
                        (type.size == 8 && exponent == 11 && mantissa == 52);
      if (offset == 0 && precision == type.size * 8 && ieee && !vax)
        type.kind = Type::Kind::kFloat;
      // All other float layouts stay unsupported (kOther), also bfloat16, which
      // is the upper half of an f32.
      break;
    }
    case 3:
      type.kind = Type::Kind::kText;
      break;
    case 8: {
      // h5py writes booleans as an enumeration whose base type is a one-byte
      // integer.
      ByteCursor base(message);
      base.Skip(8);
      if ((base.Unsigned(1) & 0x0f) == 0 && type.size == 1)
        type.kind = Type::Kind::kBool;
      break;
    }
    case 9:
      if ((bits & 0x0f) == 1) type.kind = Type::Kind::kVlenText;
      break;
    default:
      break;
  }
  if (!in.ok() || type.size == 0) return Malformed("datatype");
  return type;
}

StatusOr<std::vector<int64_t>> File::ReadDims(
    std::span<const uint8_t> message) const {
  ByteCursor in(message);
  const uint64_t version = in.Unsigned(1);
  const uint64_t rank = in.Unsigned(1);
  in.Skip(1);
  if (version == 1) {
    in.Skip(5);
  } else if (version == 2) {
    // In version 2 of the message, type 2 is a null dataspace, which has no
    // elements.
    if (in.Unsigned(1) == 2) return std::vector<int64_t>{0};
  } else {
    return Malformed("dataspace");
  }
  if (rank > kMaxRank) return Malformed("dataspace");
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t dim = Length(in);
    if (dim > static_cast<uint64_t>(kMaxElements))
      return Malformed("dataspace");
    dims.push_back(static_cast<int64_t>(dim));
    if (dim != 0 && elements > kMaxElements / dims.back())
      return Malformed("dataspace");
    elements *= std::max<int64_t>(dims.back(), 1);
  }
  if (!in.ok()) return Malformed("dataspace");
  return dims;
}

StatusOr<File::AttributeParts> File::TakeApart(
    std::span<const uint8_t> message) {
  ByteCursor in(message);
  const uint64_t version = in.Unsigned(1);
  const uint64_t flags = in.Unsigned(1);
  const uint64_t name_size = in.Unsigned(2);
  const uint64_t type_size = in.Unsigned(2);
  const uint64_t space_size = in.Unsigned(2);
  if (version < 1 || version > 3) return Malformed("attribute");
  if (version == 3) in.Skip(1);
  const auto part = [&](uint64_t size) {
    return in.Take(version == 1 ? Padded(size) : size);
  };
  AttributeParts parts;
  const std::string_view name = AsText(part(name_size));
  parts.name = name.substr(0, name.find('\0'));
  parts.is_shared = version > 1 && (flags & 3) != 0;
  parts.type = part(type_size);
  parts.space = part(space_size);
  if (!in.ok()) return Malformed("attribute");
  parts.data = in.Take(in.remaining());
  return parts;
}

StatusOr<File::Attribute> File::ReadAttribute(
    const AttributeParts& parts) const {
  if (parts.is_shared)
    return UnimplementedError("HDF5 attribute with a shared type");
  Attribute attribute;
  EMBER_ASSIGN_OR_RETURN(attribute.type, ReadType(parts.type));
  EMBER_ASSIGN_OR_RETURN(attribute.dims, ReadDims(parts.space));
  attribute.data = parts.data;
  return attribute;
}

StatusOr<const File::AttributesByName*> File::AttributesAt(uint64_t address) {
  const auto found = attributes_.find(address);
  if (found != attributes_.end()) return &found->second;
  EMBER_ASSIGN_OR_RETURN(AttributesByName attributes, ReadAttributes(address));
  return &attributes_.emplace(address, std::move(attributes)).first->second;
}

StatusOr<File::AttributesByName> File::ReadAttributes(uint64_t address) {
  EMBER_ASSIGN_OR_RETURN(const Messages* const messages, Header(address));
  AttributesByName attributes;
  const auto add = [&](std::span<const uint8_t> message) -> Status {
    EMBER_ASSIGN_OR_RETURN(const AttributeParts parts, TakeApart(message));
    attributes.emplace(parts.name, parts);
    return OkStatus();
  };
  for (const Message& message : *messages) {
    if (message.type == kAttribute) {
      if (!message.shared) EMBER_RETURN_IF_ERROR(add(message.data));
    } else if (message.type == kAttributeInfo) {
      ByteCursor in(message.data);
      in.Skip(1);
      if ((in.Unsigned(1) & 1) != 0) in.Skip(2);
      const uint64_t heap = Address(in);
      const uint64_t tree = Address(in);
      if (!in.ok()) return Malformed("attribute information");
      if (!IsDefined(heap)) continue;
      EMBER_ASSIGN_OR_RETURN(const auto objects, ReadDense(heap, tree));
      for (const std::span<const uint8_t> object : objects)
        EMBER_RETURN_IF_ERROR(add(object));
    }
  }
  return attributes;
}

StatusOr<std::optional<File::Attribute>> File::FindAttribute(
    uint64_t address, std::string_view name) {
  // Each search is charged against the read budget: many links may lead to one
  // object, and its attributes are then searched once per link, so that a small
  // file could cause unbounded work.
  EMBER_RETURN_IF_ERROR(Charge(kBytesPerSearch));
  EMBER_ASSIGN_OR_RETURN(const AttributesByName* const attributes,
                         AttributesAt(address));
  const auto found = attributes->find(name);
  if (found == attributes->end()) return std::optional<Attribute>();
  EMBER_ASSIGN_OR_RETURN(const Attribute attribute,
                         ReadAttribute(found->second));
  return std::optional<Attribute>(attribute);
}

StatusOr<std::vector<std::string>> File::ReadTexts(const Attribute& attribute) {
  const Type& type = attribute.type;
  if (type.kind != Type::Kind::kText && type.kind != Type::Kind::kVlenText) {
    return DataLossError("expected strings, found " +
                         std::string(ClassName(type.description)));
  }
  int64_t count = 1;
  for (const int64_t dim : attribute.dims) count *= dim;
  if (count < 0 ||
      static_cast<uint64_t>(count) > attribute.data.size() / type.size)
    return Malformed("attribute");
  std::vector<std::string> texts;
  for (int64_t i = 0; i < count; ++i) {
    const auto element =
        attribute.data.subspan(static_cast<uint64_t>(i) * type.size, type.size);
    if (type.kind == Type::Kind::kVlenText) {
      EMBER_ASSIGN_OR_RETURN(std::string text, ReadVlenText(element));
      texts.push_back(std::move(text));
      continue;
    }
    EMBER_RETURN_IF_ERROR(Charge(type.size));
    // The text ends at the first NUL character, whichever padding (with NULs or
    // spaces) the type states.
    const std::string_view text = AsText(element);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

StatusOr<std::string> File::ReadVlenText(std::span<const uint8_t> reference) {
  ByteCursor in(reference);
  const uint64_t size = in.Unsigned(4);
  const uint64_t address = Address(in);
  const uint64_t index = in.Unsigned(4);
  if (!in.ok()) return Malformed("string");
  if (size == 0) return std::string();
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(address));
  ByteCursor heap(rest);
  if (!heap.Matches("GCOL")) return Malformed("global heap");
  heap.Skip(4);
  const uint64_t heap_size = Length(heap);
  const uint64_t header = heap.position();
  if (!heap.ok() || heap_size < header || heap_size > rest.size())
    return Malformed("global heap");
  ByteCursor objects(rest.subspan(header, heap_size - header));
  while (objects.remaining() > 0) {
    const uint64_t number = objects.Unsigned(2);
    objects.Skip(6);
    const uint64_t object_size = Length(objects);
    // Object number 0 of a global heap is the free space behind all other
    // objects, so the search ends there.
    if (!objects.ok() || number == 0) break;
    EMBER_RETURN_IF_ERROR(Charge(1));
    if (number != index) {
      if (object_size > objects.remaining()) break;
      objects.Skip(std::min(Padded(object_size), objects.remaining()));
      continue;
    }
    if (size > object_size) break;
    const std::span<const uint8_t> text = objects.Take(size);
    if (!objects.ok()) break;
    EMBER_RETURN_IF_ERROR(Charge(size));
    return std::string(AsText(text));
  }
  return Malformed("global heap");
}

}  // namespace ember::hdf5
