#include "vm/format/native_library.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/rounding.h"
#include "vm/format/native_table.h"

namespace ember::vm {
namespace {

// Adds a piece of bytes behind the others, aligned, and returns its offset.
uint64_t Append(std::span<const uint8_t> bytes, uint64_t alignment,
                std::vector<NativeLibrary::Piece>& pieces, uint64_t& size) {
  const uint64_t offset = RoundUp(size, alignment);
  pieces.push_back({offset, bytes});
  size = offset + bytes.size();
  return offset;
}

}  // namespace

NativeLibrary LayOutNativeLibrary(
    const ModuleIdentity& module,
    std::span<const NativeLibrarySection> sections) {
  NativeLibrary library;
  NativeTableHeader header;
  std::ranges::copy(kNativeTableMagic, header.magic);
  header.version = kNativeTableVersion;
  header.header_size = sizeof(NativeTableHeader);
  header.row_size = sizeof(NativeTableRow);
  header.row_count = static_cast<uint32_t>(sections.size());
  header.module = module;
  library.table.resize(sizeof header +
                       sections.size() * sizeof(NativeTableRow));
  std::memcpy(library.table.data(), &header, sizeof header);
  library.data_size = library.table.size();
  // the packed constants of the targets so far, without duplicates
  std::vector<NativeLibrary::Piece> weights;
  for (size_t i = 0; i < sections.size(); ++i) {
    const NativeLibrarySection& section = sections[i];
    const uint64_t row_offset = sizeof header + i * sizeof(NativeTableRow);
    NativeTableRow row;
    const auto place = [&](std::span<const uint8_t> bytes, uint64_t alignment,
                           size_t field, int64_t& distance, uint64_t& size) {
      size = bytes.size();
      if (bytes.empty()) return;
      const uint64_t offset =
          Append(bytes, alignment, library.data, library.data_size);
      distance = static_cast<int64_t>(offset - row_offset - field);
    };
    place({reinterpret_cast<const uint8_t*>(section.target.data()),
           section.target.size()},
          1, offsetof(NativeTableRow, target), row.target, row.target_size);
    place(section.parts.head, 8, offsetof(NativeTableRow, head), row.head,
          row.head_size);
    // The packed constants of a target are stored only if no other target has
    // equal ones. Processors that differ only in their instructions have equal
    // ones.
    const auto same =
        std::ranges::find_if(weights, [&](const NativeLibrary::Piece& other) {
          return std::ranges::equal(other.bytes, section.parts.weights);
        });
    if (same == weights.end() || same->bytes.empty()) {
      place(section.parts.weights, 64, offsetof(NativeTableRow, weights),
            row.weights, row.weights_size);
      weights.push_back({library.data_size - section.parts.weights.size(),
                         section.parts.weights});
    } else {
      row.weights_size = same->bytes.size();
      row.weights = static_cast<int64_t>(same->offset - row_offset -
                                         offsetof(NativeTableRow, weights));
    }
    row.code_size = section.parts.code.size();
    if (row.code_size > 0) {
      library.distances.push_back(
          {row_offset + offsetof(NativeTableRow, code),
           Append(section.parts.code, section.code_alignment, library.code,
                  library.code_size)});
      library.code_alignment =
          std::max(library.code_alignment, section.code_alignment);
    }
    row.hash = HashOfParts(section.parts);
    std::memcpy(library.table.data() + row_offset, &row, sizeof row);
  }
  return library;
}

}  // namespace ember::vm
