#include "vm/format/native_table.h"

#include <cstddef>
#include <cstring>
#include <span>

#include "base/concat.h"
#include "base/hash.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

constexpr uint32_t kMostRows = 64;

// What lies at the distance that is in the field at `field`.
std::span<const uint8_t> At(const uint8_t* field, uint64_t size) {
  int64_t distance = 0;
  std::memcpy(&distance, field, sizeof distance);
  const auto address =
      reinterpret_cast<uintptr_t>(field) + static_cast<uintptr_t>(distance);
  // An empty part has no place.
  if (size == 0) return {};
  return {reinterpret_cast<const uint8_t*>(address), static_cast<size_t>(size)};
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
  // The magic first: what is no table may be shorter than one.
  if (std::memcmp(bytes, kNativeTableMagic, sizeof kNativeTableMagic) != 0) {
    return InvalidArgumentError(
        "native kernels: expected a table that vm-prejit made, found another "
        "object");
  }
  std::memcpy(&header, bytes, sizeof header);
  if (header.version != kNativeTableVersion) {
    return UnimplementedError(
        Concat({"native kernels: expected a table of version ",
                kNativeTableVersion, ", found ", header.version}));
  }
  if (header.header_size < sizeof(NativeTableHeader) ||
      header.row_size < sizeof(NativeTableRow) ||
      header.row_count > kMostRows) {
    return InvalidArgumentError(
        "native kernels: expected a table with its sizes, found others");
  }
  NativeTable table;
  table.module = header.module;
  const uint8_t* row_bytes = bytes + header.header_size;
  for (uint32_t i = 0; i < header.row_count; ++i) {
    NativeTableRow row;
    std::memcpy(&row, row_bytes, sizeof row);
    if (row.target_size > kMaxTextLength) {
      return InvalidArgumentError(
          "native kernels: expected a target of at most 65536 bytes, found a "
          "longer one");
    }
    NativeTableEntry& entry = table.entries.emplace_back();
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
    row_bytes += header.row_size;
  }
  return table;
}

}  // namespace ember::vm
