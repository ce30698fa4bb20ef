// CRC-32C (Castagnoli, RFC 3720 B.4) of blocks and tensors in checkpoints,
// masked as TensorFlow masks it.
//
//   if (MaskedChecksum(block) != stored) …
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_CHECKSUM_H_
#define EMBER_FRONTENDS_TENSORFLOW_CHECKSUM_H_

#include <cstdint>
#include <span>

namespace ember::tensorflow {

uint32_t Checksum(std::span<const uint8_t> bytes);
// Returns the checksum, rotated and with a constant added, for data that itself
// contains checksums.
uint32_t MaskedChecksum(std::span<const uint8_t> bytes);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_CHECKSUM_H_
