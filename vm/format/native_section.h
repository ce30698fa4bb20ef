// A native section in its three parts: the head, which describes kernels, their
// code, and constants that were packed for them when the file was made.
//
//   EMBER_ASSIGN_OR_RETURN(NativeParts parts, SplitNativeSection(bytes));
//   ReadNativeKernels(parts, owner);
//
// In a section they lie one behind another, each at a multiple of 64 bytes; a
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
  // 64-byte aligned. Nothing that a kernel may do depends on these bytes but
  // the numbers that it computes, as with constants of the module, so that they
  // are not hashed or signed: they need not be read before they are used.
  std::span<const uint8_t> weights;
};

// Errors: DataLoss for bytes that are cut off or no native section,
// Unimplemented for one of another version.
StatusOr<NativeParts> SplitNativeSection(std::span<const uint8_t> bytes);

// What a section's hash and a signature are of: all but the weights. Of bytes
// that are no native section of this version: all.
std::span<const uint8_t> HashedPart(std::span<const uint8_t> bytes);

// The section of these parts.
std::string JoinNativeSection(const NativeParts& parts);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_SECTION_H_
