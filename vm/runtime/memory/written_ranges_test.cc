// Adds and removes random ranges, and compares the result with an array that
// has one flag per byte:
//
//   EMBER_SEED=42 bazel run //vm/runtime/memory:written_ranges_test
#include "vm/runtime/memory/written_ranges.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"

namespace ember::vm {
namespace {

TEST(WrittenRangesTest, AsAByteForEachByte) {
  constexpr int kBytes = 60;
  const uint64_t seed = TestSeeds(1).begin;
  SCOPED_TRACE("EMBER_SEED=" + std::to_string(seed));
  std::printf("EMBER_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<int>(random() % n); };
  uint8_t memory[kBytes];
  WrittenRanges written;
  std::vector<bool> is_written(kBytes);
  for (int step = 0; step < 100'000; ++step) {
    const int begin = below(kBytes + 1);
    const int count = below(std::min(kBytes - begin, 12) + 1);
    const auto part = is_written.begin() + begin;
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        written.Add(memory + begin, count);
        std::fill(part, part + count, true);
        break;
      case 3:
      case 4:
      case 5:
        written.Remove(memory + begin, count);
        std::fill(part, part + count, false);
        break;
      case 6: {
        std::vector<bool> want(kBytes);
        std::vector<bool> got(kBytes);
        for (int i = begin; i < begin + count; ++i) want[i] = !is_written[i];
        for (const std::span<uint8_t> gap :
             written.TakeGaps(memory + begin, count)) {
          for (const uint8_t& byte : gap) got[&byte - memory] = true;
        }
        ASSERT_EQ(got, want) << step;
        std::fill(part, part + count, true);
        break;
      }
      default:
        if (below(50) > 0) break;
        written.Clear();
        is_written.assign(kBytes, false);
    }
  }
}

// All ranges must be removed at once: removing them one by one would move all
// later ranges each time.
TEST(WrittenRangesTest, ManyAreRemovedAtOnce) {
  constexpr int64_t kRanges = 2'000'000;
  std::vector<uint8_t> memory(2 * kRanges);
  WrittenRanges written;
  for (int64_t i = 0; i < kRanges; ++i) written.Add(&memory[2 * i], 1);
  written.Remove(memory.data() + 1, 2 * kRanges - 4);
  const std::vector<std::span<uint8_t>> gaps =
      written.TakeGaps(memory.data(), 2 * kRanges - 1);
  ASSERT_EQ(gaps.size(), 1u);
  EXPECT_EQ(gaps[0].data(), memory.data() + 1);
  EXPECT_EQ(gaps[0].size(), static_cast<size_t>(2 * kRanges - 3));
}

}  // namespace
}  // namespace ember::vm
