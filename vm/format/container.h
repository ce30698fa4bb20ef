// The container of a module file: a fixed header that finds and protects the
// metadata.
//
//   offset 0   ContainerHeader, 64 bytes
//   offset 64  metadata: a flatbuffer (vm/format/module.fbs)
//   then       constants and native sections, each at a multiple of 64 bytes
//   at the end a signature, if the header says so (vm/format/module_signature.h)
//
// All numbers are little-endian and offsets are 64 bits wide, so constants may
// go past 2 GB (the metadata itself may not). Flipped bytes in header and
// metadata are found by their hashes; the constants have hashes of their own,
// compared only on demand.
#ifndef EMBER_VM_FORMAT_CONTAINER_H_
#define EMBER_VM_FORMAT_CONTAINER_H_

#include <cstdint>
#include <span>

#include "base/status.h"

namespace ember::vm {

inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 6;

// At the end of a signed file (vm/format/module_signature.h): key and
// signature.
inline constexpr uint64_t kSignatureBytes = 32 + 64;

struct ContainerHeader {
  char magic[4] = {'E', 'M', 'B', 'R'};
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  uint64_t metadata_offset = sizeof(ContainerHeader);
  uint64_t metadata_size = 0;
  uint64_t file_size = 0;
  uint64_t metadata_hash = 0;     // HashBytes of the metadata
  uint64_t signature_offset = 0;  // 0: none (before 1.3: always)
  uint64_t reserved = 0;
  uint64_t header_hash = 0;  // HashBytes of the fields before
};
static_assert(sizeof(ContainerHeader) == 64,
              "the header is part of the file format");

uint64_t HashOfHeader(const ContainerHeader& header);

// Checks magic, version, sizes and (if asked) hashes; errors as
// vm/format/reader.h says.
StatusOr<ContainerHeader> ReadContainerHeader(std::span<const uint8_t> file,
                                              bool verify_hashes);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_CONTAINER_H_
