// Splits a native section into its three parts: the head, which describes the
// kernels; the kernels' code; and constants that were packed for the kernels
// when the file was made.
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
  // Packed constants, 64-byte aligned. Like constants of the module, these
  // bytes only affect the numbers that a kernel computes. Therefore they are
  // neither hashed nor signed, and are not read before a kernel uses them.
  std::span<const uint8_t> weights;
};

// Splits a section into its parts. Errors: DataLoss for truncated bytes or
// bytes that are no native section, Unimplemented for another version.
StatusOr<NativeParts> SplitNativeSection(std::span<const uint8_t> bytes);

// Returns the bytes of a section that its hash and a signature cover: all
// except the weights. If the bytes are no native section of this version,
// returns all of them.
std::span<const uint8_t> HashedPart(std::span<const uint8_t> bytes);

// Returns the section that consists of these parts.
std::string JoinNativeSection(const NativeParts& parts);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_SECTION_H_
