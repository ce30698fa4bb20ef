// The contents of a file that a linker or a dynamic linker can read, made from
// native sections: a table to which the file's only symbol refers
// (vm/format/native_table.h), read-only data, and code. The layout is complete
// except for the distances from data to code.
//
//   const NativeLibrary library = LayOutNativeLibrary(identity, sections);
//   WriteSharedObject(library, …);   // vm/format/shared_object.h
//   WriteObjectFile(library, …);     // jit/llvm/objects/object_file.h
//
// A value. It refers to bytes of the sections, which must outlive it.
#ifndef EMBER_VM_FORMAT_NATIVE_LIBRARY_H_
#define EMBER_VM_FORMAT_NATIVE_LIBRARY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/format/module_identity.h"
#include "vm/format/native_section.h"

namespace ember::vm {

struct NativeLibrarySection {
  std::string target;
  NativeParts parts;
  uint32_t code_alignment = 1;
};

struct NativeLibrary {
  struct Piece {
    uint64_t offset = 0;
    std::span<const uint8_t> bytes;
  };
  // A distance that the writer of the file must fill in: the 64-bit field at
  // offset `field` of the table gets the distance from the field to offset
  // `offset` in the code.
  struct CodeDistance {
    uint64_t field = 0;
    uint64_t offset = 0;
  };

  // The table, which is the first part of the data, before the pieces. The
  // fields for distances to code are 0; the writer of the file sets them.
  std::vector<uint8_t> table;
  // the rest of the data, and the code, as pieces sorted by offset; the bytes
  // between pieces are zeros
  std::vector<Piece> data, code;
  uint64_t data_size = 0, code_size = 0;
  uint32_t data_alignment = 64, code_alignment = 16;
  std::vector<CodeDistance> distances;
};

NativeLibrary LayOutNativeLibrary(
    const ModuleIdentity& module,
    std::span<const NativeLibrarySection> sections);

// Calls write(bytes) for consecutive parts of the range [begin, end): pieces,
// and zeros between them. Stops when write returns an error, and returns that
// error.
template <typename Write>
auto WritePadded(std::span<const NativeLibrary::Piece> pieces, uint64_t begin,
                 uint64_t end, Write&& write) {
  static constexpr uint8_t kZeros[4096] = {};
  auto status = write(std::span<const uint8_t>());
  uint64_t position = begin;
  const auto pad_to = [&](uint64_t offset) {
    while (status.ok() && position < offset) {
      const uint64_t count =
          offset - position < sizeof kZeros ? offset - position : sizeof kZeros;
      status = write(std::span(kZeros, static_cast<size_t>(count)));
      position += count;
    }
  };
  for (const NativeLibrary::Piece& piece : pieces) {
    pad_to(piece.offset);
    if (!status.ok()) return status;
    status = write(piece.bytes);
    position += piece.bytes.size();
  }
  pad_to(end);
  return status;
}

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_LIBRARY_H_
