#include "vm/format/native_table.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

constexpr uint32_t kMaxRows = 64;

// Returns `size` bytes at an address that a field of the table gives as its
// distance from the field.
std::span<const uint8_t> At(const uint8_t* field, uint64_t size) {
  int64_t distance = 0;
  std::memcpy(&distance, field, sizeof distance);
  const auto address =
      reinterpret_cast<uintptr_t>(field) + static_cast<uintptr_t>(distance);
  // The distance of an empty part has no meaning, so no address is made of it.
  if (size == 0) return {};
  return {reinterpret_cast<const uint8_t*>(address), static_cast<size_t>(size)};
}

StatusOr<NativeTableEntry> ReadDistances(const uint8_t* row_bytes) {
  NativeTableRow row;
  std::memcpy(&row, row_bytes, sizeof row);
  if (row.target_size > kMaxTextLength) {
    return InvalidArgumentError(
        "native kernels: expected a target of at most 65536 bytes, found a "
        "longer one");
  }
  NativeTableEntry entry;
  const auto target =
      At(row_bytes + offsetof(NativeTableRow, target), row.target_size);
  entry.target.assign(reinterpret_cast<const char*>(target.data()),
                      target.size());
  entry.parts.head =
      At(row_bytes + offsetof(NativeTableRow, head), row.head_size);
  entry.parts.code =
      At(row_bytes + offsetof(NativeTableRow, code), row.code_size);
  entry.parts.weights =
      At(row_bytes + offsetof(NativeTableRow, weights), row.weights_size);
  entry.hash = row.hash;
  return entry;
}

NativeTableEntry ReadPointers(const uint8_t* row_bytes) {
  PointerTableRow row;
  std::memcpy(&row, row_bytes, sizeof row);
  NativeTableEntry entry;
  entry.target = row.target;
  entry.parts.head = {row.head, static_cast<size_t>(row.head_size)};
  entry.parts.weights = {row.weights, static_cast<size_t>(row.weights_size)};
  entry.functions = {row.functions, static_cast<size_t>(row.function_count)};
  entry.hash = row.hash;
  return entry;
}

}  // namespace

uint64_t HashOfParts(const NativeParts& parts) {
  return HashBytes(parts.code, HashBytes(parts.head));
}

StatusOr<NativeTable> ReadNativeTable(const void* symbol) {
  if (symbol == nullptr)
    return InvalidArgumentError("native kernels: expected a table, found NULL");
  const auto* const bytes = static_cast<const uint8_t*>(symbol);
  NativeTableHeader header;
  // The magic number is checked before the header is read, because an object
  // that is no table may be shorter than a header.
  if (std::memcmp(bytes, kNativeTableMagic, sizeof kNativeTableMagic) != 0) {
    return InvalidArgumentError(
        "native kernels: expected a table that vm-prejit made, found another "
        "object");
  }
  std::memcpy(&header, bytes, sizeof header);
  const bool has_pointers = header.version == kPointerTableVersion;
  if (!has_pointers && header.version != kNativeTableVersion) {
    return UnimplementedError(Concat(
        {"native kernels: expected a table of version ", kNativeTableVersion,
         " or ", kPointerTableVersion, ", found ", header.version}));
  }
  const size_t least =
      has_pointers ? sizeof(PointerTableRow) : sizeof(NativeTableRow);
  if (header.header_size < sizeof(NativeTableHeader) ||
      header.row_size < least || header.row_count > kMaxRows) {
    return InvalidArgumentError(
        "native kernels: expected a table with its sizes, found others");
  }
  NativeTable table;
  table.module = header.module;
  const uint8_t* row_bytes = bytes + header.header_size;
  for (uint32_t i = 0; i < header.row_count; ++i) {
    if (has_pointers) {
      table.entries.push_back(ReadPointers(row_bytes));
    } else {
      EMBER_ASSIGN_OR_RETURN(NativeTableEntry entry, ReadDistances(row_bytes));
      table.entries.push_back(std::move(entry));
    }
    row_bytes += header.row_size;
  }
  return table;
}

}  // namespace ember::vm
