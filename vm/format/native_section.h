// The three parts of a native section: the head, which describes kernels, their
// code, and constants that were packed for them when the file was made.
//
//   EMBER_ASSIGN_OR_RETURN(NativeParts parts, SplitNativeSection(bytes));
//   ReadNativeKernels(parts, owner);
//
// In a section the parts follow each other, each at a multiple of 64 bytes. A
// shared object or an object file (vm/format/native_table.h) has the same parts
// in sections of its own. Thread-safe.
#ifndef EMBER_VM_FORMAT_NATIVE_SECTION_H_
#define EMBER_VM_FORMAT_NATIVE_SECTION_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace ember::vm {

struct NativeParts {
  std::span<const uint8_t> head, code;
  // Packed constants, 64-byte aligned. These bytes affect only the numbers that
  // a kernel computes, as constants of the module do. Therefore they are not
  // hashed or signed, and need not be read before they are used.
  std::span<const uint8_t> weights;
};

// Splits a section. Errors: DataLoss for truncated bytes or bytes that are no
// native section, Unimplemented for another version.
StatusOr<NativeParts> SplitNativeSection(std::span<const uint8_t> bytes);

// Returns the bytes that the section's hash and a signature cover: all but the
// weights. For bytes that are no native section of this version: all bytes.
std::span<const uint8_t> HashedPart(std::span<const uint8_t> bytes);

// Returns the section that consists of these parts.
std::string JoinNativeSection(const NativeParts& parts);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_SECTION_H_
