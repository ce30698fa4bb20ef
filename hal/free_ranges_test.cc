#include "hal/free_ranges.h"

#include <random>
#include <string>
#include <vector>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"

namespace ember::hal {
namespace {

TEST(FreeRangesTest, TakesTheSmallestThatFits) {
  FreeRanges free(1000);
  EXPECT_EQ(free.Take(100, 1), 0u);
  EXPECT_EQ(free.Take(300, 1), 100u);
  EXPECT_EQ(free.Take(100, 1), 400u);
  // The free ranges are now 300 bytes at 100, and 500 at 500.
  free.Give(100, 300);
  // Both ranges are large enough, so the smaller one is used.
  EXPECT_EQ(free.Take(200, 1), 100u);
  // The smaller free range has only 100 bytes left, so the larger one is used:
  // 512 is its first multiple of 64.
  EXPECT_EQ(free.Take(200, 64), 512u);
  EXPECT_EQ(free.Take(600, 1), std::nullopt);
  // These bytes and the 100 free bytes before them become one range.
  free.Give(400, 100);
  EXPECT_EQ(free.Take(200, 1), 300u);
}

// Makes random calls and compares their results with an array that says for
// each byte if it is taken.
TEST(FreeRangesTest, NoByteHasTwoOwners) {
  const auto seed = static_cast<uint32_t>(TestSeeds(1).begin);
  SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
               " bazel test --test_env=EMBER_SEED //hal:free_ranges_test");
  std::mt19937 random(seed);
  constexpr uint64_t kBytes = 1 << 14;
  struct Piece {
    uint64_t offset, bytes;
  };
  FreeRanges free(kBytes);
  std::vector<Piece> pieces;
  std::vector<bool> owned(kBytes);
  const auto set_owned = [&](const Piece& piece, bool value) {
    for (uint64_t at = piece.offset; at < piece.offset + piece.bytes; ++at) {
      ASSERT_NE(owned.at(at), value);
      owned[at] = value;
    }
  };
  int refused = 0;
  for (int step = 0; step < 3000; ++step) {
    if (random() % 5 < 3 || pieces.empty()) {
      const uint64_t bytes = 1 + random() % (step % 7 == 0 ? 2000 : 100);
      const uint64_t alignment = uint64_t{1} << random() % 8;
      const auto offset = free.Take(bytes, alignment);
      if (!offset.has_value()) {
        ++refused;
        // If a request is refused, the array must show no aligned free range of
        // its size.
        for (uint64_t at = 0; at + bytes <= kBytes; at += alignment) {
          bool has_room = true;
          for (uint64_t i = at; i < at + bytes && has_room; ++i)
            has_room = !owned[i];
          ASSERT_FALSE(has_room) << bytes << " bytes at " << at;
        }
        continue;
      }
      ASSERT_EQ(*offset % alignment, 0u);
      pieces.push_back({*offset, bytes});
      set_owned(pieces.back(), true);
    } else {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      set_owned(pieces.back(), false);
      free.Give(pieces.back().offset, pieces.back().bytes);
      pieces.pop_back();
    }
    uint64_t used = 0;
    for (const Piece& piece : pieces) used += piece.bytes;
    ASSERT_EQ(free.free_bytes(), kBytes - used);
  }
  EXPECT_GT(refused, 0);
  for (const Piece& piece : pieces) free.Give(piece.offset, piece.bytes);
  EXPECT_TRUE(free.is_all_free());
  // After everything was given back, all bytes must be one free range.
  EXPECT_EQ(free.Take(kBytes, 1), 0u);
}

}  // namespace
}  // namespace ember::hal
