#include "vm/format/container.h"

#include <bit>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/concat.h"
#include "base/hash.h"

namespace ember::vm {
namespace {

static_assert(
    std::endian::native == std::endian::little,
    "module files are mapped as they are; a big-endian host needs conversion");

Status Damaged(const char* what, uint64_t expected, uint64_t found) {
  return DataLossError(Concat(
      {"module file: ", what, ": expected ", expected, ", found ", found}));
}

Status CheckVersion(const ContainerHeader& header) {
  if (header.major == kFormatMajor) return OkStatus();
  return UnimplementedError(
      Concat({"module file: format version: expected ", kFormatMajor,
              ".x, found ", header.major, ".", header.minor}));
}

Status CheckSizes(const ContainerHeader& header, uint64_t size) {
  if (header.file_size != size)
    return Damaged("size in bytes", header.file_size, size);
  if (header.metadata_offset != sizeof(ContainerHeader)) {
    return Damaged("metadata offset", sizeof(ContainerHeader),
                   header.metadata_offset);
  }
  const uint64_t room = size - sizeof(ContainerHeader);
  if (header.metadata_size > room) {
    return DataLossError(
        Concat({"module file: metadata size: expected at most ", room,
                ", found ", header.metadata_size}));
  }
  const uint64_t metadata_end = sizeof(ContainerHeader) + header.metadata_size;
  if (header.signature_offset != 0 &&
      (size - metadata_end < kSignatureBytes ||
       header.signature_offset != size - kSignatureBytes)) {
    return Damaged("signature offset", size - kSignatureBytes,
                   header.signature_offset);
  }
  return OkStatus();
}

}  // namespace

uint64_t HashOfHeader(const ContainerHeader& header) {
  return HashBytes(&header, offsetof(ContainerHeader, header_hash));
}

StatusOr<ContainerHeader> ReadContainerHeader(std::span<const uint8_t> file,
                                              bool verify_hashes) {
  ContainerHeader header;
  if (file.size() < sizeof(header)) {
    return DataLossError(
        Concat({"module file: expected at least ", sizeof(header),
                " bytes, found ", file.size()}));
  }
  const ContainerHeader expected;
  std::memcpy(&header, file.data(), sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) {
    return DataLossError(
        "module file: expected it to begin with 'EMBR', found other bytes");
  }
  EMBER_RETURN_IF_ERROR(CheckVersion(header));
  if (verify_hashes && header.header_hash != HashOfHeader(header)) {
    return Damaged("header hash", HashOfHeader(header), header.header_hash);
  }
  EMBER_RETURN_IF_ERROR(CheckSizes(header, file.size()));
  if (verify_hashes) {
    const uint64_t hash = HashBytes(file.subspan(
        sizeof(header), static_cast<size_t>(header.metadata_size)));
    if (hash != header.metadata_hash)
      return Damaged("metadata hash", header.metadata_hash, hash);
  }
  return header;
}

}  // namespace ember::vm
