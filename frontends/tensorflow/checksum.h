// CRC-32C (Castagnoli, RFC 3720 B.4), which checkpoints keep of their blocks
// and tensors, masked as TensorFlow masks it.
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
// Rotated, with a constant added: checksums of data that holds checksums.
uint32_t MaskedChecksum(std::span<const uint8_t> bytes);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_CHECKSUM_H_
