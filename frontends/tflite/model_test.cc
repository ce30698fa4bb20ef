#include "frontends/tflite/model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace ember::tflite {
namespace {

// A vector's length is aligned to 4 bytes, and its elements follow at once. In
// a file that verifies, 8-byte elements may thus be at any multiple of 4.
// Fuzzing under UBSan found this: UBSan stops if they are read in place.
TEST(Model, IntegersOfEightBytesWhereverTheyAre) {
  const std::vector<int64_t> integers = {-5, int64_t{1} << 40, 7};
  const auto count = static_cast<uint32_t>(integers.size());
  for (const size_t at : {size_t{0}, size_t{4}}) {
    alignas(8) uint8_t bytes[40] = {};
    std::memcpy(bytes + at, &count, sizeof count);
    std::memcpy(bytes + at + sizeof count, integers.data(),
                integers.size() * sizeof(int64_t));
    EXPECT_EQ(IntegersOf(reinterpret_cast<const flatbuffers::Vector<int64_t>*>(
                  bytes + at)),
              integers);
  }
  EXPECT_TRUE(IntegersOf(nullptr).empty());
}

}  // namespace
}  // namespace ember::tflite
