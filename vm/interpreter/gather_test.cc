// Tests gathers whose columns are split over several tiles.
#include <cstring>

#include "gtest/gtest.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

// Fills an input. Elements of buffer 0, which is i64, are 0, 0, 1, 1, …, so
// that they are valid indices. Element i of any other buffer is the f32 i.
void FillIndices(int buffer, std::vector<char>& bytes) {
  if (buffer == 0) {
    for (int64_t i = 0; i < static_cast<int64_t>(bytes.size()) / 8; ++i) {
      const int64_t value = i / 2;
      std::memcpy(&bytes[i * 8], &value, sizeof value);
    }
    return;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(bytes.size()) / 4; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(&bytes[i * 4], &value, sizeof value);
  }
}

TEST(GatherTest, RowsWiderThanATile) {
  for (int workers : {1, 2}) {
    CompareOptions options;
    options.workers = workers;
    options.fill = FillIndices;
    ExpectMatchesDefinition(R"(
dispatch @resize(%v: i64[40], %x: f32[1, 20, 20, 96]) -> (%y: f32[1, 40, 40, 96]) {
  temp %a: f32[1, 40, 20, 96]
  %a[i0, i1, i2, i3] = %x[i0, %v[i1], i2, i3]
  %y[i0, i1, i2, i3] = %a[i0, i1, %v[i2], i3]
})",
                            options);
    ExpectMatchesDefinition(R"(
dispatch @transposed(%v: i64[20], %x: f32[1, 20, 10, 96]) -> (%y: f32[1, 96, 20, 20]) {
  %y[i0, i1, i2, i3] = %x[i0, i2, %v[i3], i1]
})",
                            options);
  }
}

}  // namespace
}  // namespace ember::vm
