#include "frontends/tensorflow/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace ember::tensorflow {
namespace {

// Tables for a CRC of eight bytes per step. Entry [k][b] is what byte b
// contributes to the remainder if k further bytes of the eight follow it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0x82f63b78u : 0);
    tables[0][byte] = remainder;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t k = 1; k < 8; ++k) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = before >> 8 ^ tables[0][before & 255];
    }
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Checksum(std::span<const uint8_t> bytes) {
  uint32_t remainder = 0xffffffffu;
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t group;
    std::memcpy(&group, bytes.data() + at, sizeof(group));
    group ^= remainder;
    remainder = 0;
    for (size_t k = 0; k < 8; ++k)
      remainder ^= kTables[7 - k][group >> (8 * k) & 255];
  }
  for (; at < bytes.size(); ++at)
    remainder = remainder >> 8 ^ kTables[0][(remainder ^ bytes[at]) & 255];
  return ~remainder;
}

uint32_t MaskedChecksum(std::span<const uint8_t> bytes) {
  return std::rotr(Checksum(bytes), 15) + 0xa282ead8u;
}

}  // namespace ember::tensorflow
