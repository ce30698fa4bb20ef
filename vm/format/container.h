// The container format of a module file. A header of fixed size has the
// position and the hash of the metadata.
//
//   offset 0   ContainerHeader, 64 bytes
//   offset 64  metadata: a flatbuffer (vm/format/module.fbs)
//   then       constants and native sections, each at a multiple of 64 bytes
//   at the end a signature, if the header says so (vm/format/module_signature.h)
//
// All numbers are little-endian. Offsets have 64 bits, so constants may lie
// beyond 2 GB (the metadata itself may not). Hashes detect flipped bits in
// header and metadata. The constants have hashes of their own, which are
// compared only on demand.
#ifndef EMBER_VM_FORMAT_CONTAINER_H_
#define EMBER_VM_FORMAT_CONTAINER_H_

#include <cstdint>
#include <span>

#include "base/status.h"

namespace ember::vm {

inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 6;

// Number of bytes of the public key and the signature at the end of a signed
// file (vm/format/module_signature.h).
inline constexpr uint64_t kSignatureBytes = 32 + 64;

struct ContainerHeader {
  char magic[4] = {'E', 'M', 'B', 'R'};
  uint16_t major = kFormatMajor;
  uint16_t minor = kFormatMinor;
  uint64_t metadata_offset = sizeof(ContainerHeader);
  uint64_t metadata_size = 0;
  uint64_t file_size = 0;
  uint64_t metadata_hash = 0;  // hash of the metadata (HashBytes)
  // offset of the signature; 0: there is none (always before format 1.3)
  uint64_t signature_offset = 0;
  uint64_t reserved = 0;
  uint64_t header_hash = 0;  // hash (HashBytes) of the header's fields above
};
static_assert(sizeof(ContainerHeader) == 64,
              "the header is part of the file format");

uint64_t HashOfHeader(const ContainerHeader& header);

// Reads the header and checks magic, version, sizes and, if requested, hashes.
// vm/format/reader.h lists the errors.
StatusOr<ContainerHeader> ReadContainerHeader(std::span<const uint8_t> file,
                                              bool verify_hashes);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_CONTAINER_H_
