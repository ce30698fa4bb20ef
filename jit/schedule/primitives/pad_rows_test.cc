// pad_rows: the nest that it makes, and what it refuses.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "jit/schedule/testing/primitives_testing.h"

namespace ember::schedule {
namespace {

constexpr std::string_view kRows = R"(
  dispatch @rows(%x: f32[4, 32], %w: f32[32, 8]) -> (%y: f32[4, 8]) {
    %y[i, j] = sum(k < 32) %x[i, k] * %w[k, j]
  })";

const std::string kSlices = R"(
  split %y k 8 -> k0 k1
  reorder %y i k0 j k1
  parallel %y i
  cache_read %y %w -> ws)";
const std::string kAttached = kSlices + "\n compute_at %ws %y k0";

// Only the distance of rows is another: no index changes.
TEST(PadRows, RowsLieFurtherApart) {
  ExpectNest(kRows, kAttached + "\n pad_rows %ws 4", R"(
    task %ws: f32[8, 12])");
  ExpectNest(kRows, kAttached + "\n pad_rows %ws 4", R"(
        for c0 < 8 {
          for c1 < 8 { %ws[c0, c1] = %w[k0 * 8 + c0, c1] }
        })");
  ExpectNest(kRows, kAttached + "\n pad_rows %ws 4\n double_buffer %ws", R"(
    task %ws: f32[2, 8, 12])");
}

TEST(PadRows, Refuses) {
  ExpectRefused(kRows, kSlices, "pad_rows %ws 4",
                "the stage is not computed in a loop: compute_at it first");
  ExpectRefused(kRows, kAttached, "pad_rows %ws 65",
                "expected rows at most 64 elements further apart, found 65");
  ExpectRefused(kRows, kAttached + "\n pad_rows %ws 4", "pad_rows %ws 4",
                "the stage's rows are padded already");
}

}  // namespace
}  // namespace ember::schedule
