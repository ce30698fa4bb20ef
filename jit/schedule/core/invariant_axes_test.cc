// Tests which axes are removed from temporaries, and that nothing else changes.
// collapse_axes_test.cc compares the results of random dispatches.
#include "jit/schedule/core/invariant_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/schedule.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

// Returns the text of the dispatch's nest after DropInvariantAxes, without
// other scheduling.
std::string Dropped(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  DropInvariantAxes(computation);
  auto nest = Lower(Schedule(std::move(computation)));
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  return loops::ToText(*nest);
}

TEST(InvariantAxes, ASumThatIsTheSameForAllColumns) {
  const std::string text = Dropped(R"(
dispatch @same(%x: f32[6, 8], %w: f32[5]) -> (%y: f32[6, 5]) {
  temp %t: f32[6, 5]
  %t[i, j] = sum(k < 8) %x[i, k] * 0.5
  %y[i, j] = %t[i, j] * %w[j]
})");
  EXPECT_THAT(text, HasSubstr("%t: f32[6, 1]"));
  EXPECT_THAT(text, HasSubstr("%t[i_1, 0] * %w[j"));
}

TEST(InvariantAxes, AResultIsCopied) {
  const std::string text = Dropped(R"(
dispatch @result(%x: f32[6, 8]) -> (%y: f32[6, 5]) {
  %y[i, j] = sum(k < 8) %x[i, k]
})");
  EXPECT_THAT(text, HasSubstr("%y.same: f32[6, 1]"));
  EXPECT_THAT(text, HasSubstr("= %y.same[i_1, 0]"));
}

TEST(InvariantAxes, WhatMattersStays) {
  for (const char* dispatch :
       {// %x is indexed by j, so the values of %t differ along j and the axis
        // stays.
        R"(dispatch @load(%x: f32[5, 8]) -> (%y: f32[6, 5]) {
  temp %t: f32[6, 5]
  %t[i, j] = sum(k < 8) %x[j, k] * f32(i)
  %y[i, j] = exp(%t[i, j])
})",
        // %y reads beyond the end of the temporary %t by a pad, so the extent
        // of %t must stay.
        R"(dispatch @pad(%x: f32[6, 8]) -> (%y: f32[6, 7]) {
  temp %t: f32[6, 5]
  %t[i, j] = sum(k < 8) %x[i, k]
  %y[i, j] = pad(%t[i, j - 1], 0.0)
})",
        // The stage %t is no reduction, so its axes stay.
        R"(dispatch @cheap(%x: f32[6]) -> (%y: f32[6, 5]) {
  temp %t: f32[6, 5]
  %t[i, j] = exp(%x[i])
  %y[i, j] = %t[i, j] + 1.0
})"}) {
    EXPECT_THAT(Dropped(dispatch), HasSubstr("%t: ")) << dispatch;
    EXPECT_THAT(Dropped(dispatch), HasSubstr("f32[6, 5]")) << dispatch;
    EXPECT_THAT(Dropped(dispatch), ::testing::Not(HasSubstr("f32[6, 1]")));
  }
}

}  // namespace
}  // namespace ember::schedule
