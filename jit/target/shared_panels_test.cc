// Tests panels: each byte has a position of its own, distances of whole blocks
// of rows are steps, and only the right products and stores use panels.
#include "jit/target/shared_panels.h"

#include <set>

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

TEST(SharedPanels, EachByteHasOnePosition) {
  for (const SharedPanels panels :
       {SharedPanels{{8, 128}}, SharedPanels{{16, 256}},
        SharedPanels{{24, 384}}}) {
    const int64_t bytes = 2 * panels.rows * panels.row_bytes;
    std::set<int64_t> positions;
    for (int64_t offset = 0; offset < bytes; ++offset) {
      const int64_t position = panels.PositionOf(offset);
      EXPECT_GE(position, 0);
      EXPECT_LT(position, bytes);
      positions.insert(position);
      // The swizzle moves pieces as a whole: the bytes of a piece stay
      // together.
      EXPECT_EQ(position % kPanelPieceBytes, offset % kPanelPieceBytes);
    }
    EXPECT_EQ(static_cast<int64_t>(positions.size()), bytes);
  }
}

// The expected positions are those of the figure in shared_panels.h.
TEST(SharedPanels, Figure) {
  const SharedPanels panels = {{8, 256}};
  EXPECT_EQ(panels.PositionOf(0), 0);
  EXPECT_EQ(panels.PositionOf(8 * 16), 8 * 128);  // piece a8
  EXPECT_EQ(panels.PositionOf(256), 128 + 16);    // piece b0
  EXPECT_EQ(panels.PositionOf(256 + 16), 128);    // piece b1
  // piece b15
  EXPECT_EQ(panels.PositionOf(256 + 15 * 16), 8 * 128 + 128 + 6 * 16);
}

// If IsStep holds for a distance, adding the distance to any offset moves the
// position by the same number of bytes.
TEST(SharedPanels, Steps) {
  const SharedPanels panels = {{16, 256}};
  const int64_t matrix = panels.rows * panels.row_bytes;
  EXPECT_FALSE(panels.IsStep(16));
  EXPECT_FALSE(panels.IsStep(256));
  EXPECT_FALSE(panels.IsStep(-matrix));
  for (const int64_t step : {int64_t{128}, 8 * panels.row_bytes, matrix,
                             matrix + 8 * panels.row_bytes + 128}) {
    ASSERT_TRUE(panels.IsStep(step)) << step;
    const int64_t rows = step % matrix / panels.row_bytes;
    const int64_t bytes = step % panels.row_bytes;
    for (int64_t row = 0; row + rows < panels.rows; ++row) {
      for (int64_t byte = 0; byte + bytes < panels.row_bytes; ++byte) {
        const int64_t offset = row * panels.row_bytes + byte;
        EXPECT_EQ(panels.PositionOf(offset + step),
                  panels.PositionOf(offset) + panels.PositionOf(step));
      }
    }
  }
}

}  // namespace
}  // namespace ember::jit
