// Tests which dims and axes are split. collapse_axes_test.cc tests that the
// result computes the same.
#include "jit/schedule/core/split_dims.h"

#include <gtest/gtest.h>

#include <string>

#include "base/check.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/schedule.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

TEST(SplitDims, WeightsOfGroups) {
  auto dispatch = tensor::Parse(R"(
dispatch @groups(%x: f32[4, 34], %w: f32[34, 136]) -> (%y: f32[4, 34]) {
  %y[g, o] = sum(c < 34) %x[g, c] * %w[c, g * 34 + o]
}
)");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  SplitDims(computation);  // %w is not marked as a constant yet, so nothing is
                           // split
  EXPECT_EQ(computation.buffers[1].extents.size(), 2u);
  computation.buffers[1].is_constant = true;
  SplitDims(computation);
  auto nest = Lower(Schedule(std::move(computation)));
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_NE(loops::ToText(*nest).find("%x[g, c] * %w[c, g, o]"),
            std::string::npos)
      << loops::ToText(*nest);
  EXPECT_NE(loops::ToText(*nest).find("%w: input f32[34, 4, 34]"),
            std::string::npos);
}

// Returns the text of the nest after SplitDims, without other scheduling.
// constant: number of the buffer that is a constant.
std::string SplitText(const std::string& text, uint32_t constant) {
  auto dispatch = tensor::Parse(text);
  EMBER_CHECK(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  computation.buffers[constant].is_constant = true;
  SplitDims(computation);
  auto nest = Lower(Schedule(std::move(computation)));
  EMBER_CHECK(nest.ok()) << nest.status().ToString();
  return loops::ToText(*nest);
}

// Returns a dispatch with a grouped product, followed by the stage `behind`.
std::string Grouped(const std::string& behind) {
  return R"(
dispatch @groups(%x: u8[5, 32], %w: i8[8, 48], %b: i32[48]) -> (%y: i32[5, 48]) {
  temp %sum: i32[5, 48]
  for (i < 5, g < 4, o < 12) %sum[i, g * 12 + o] = sum(c < 8) i32(%x[i, g * 8 + c]) * i32(%w[c, g * 12 + o])
)" + behind +
         "\n}";
}

TEST(SplitDims, WhatGroupsReadAndStore) {
  const std::string text =
      SplitText(Grouped("%y[i, j] = %sum[i, j] + %b[j]"), 1);
  for (const char* part :
       {"%x: input u8[5, 4, 8]", "%b: input i32[4, 12]",
        "%y: output i32[5, 4, 12]", "i32(%x[i, g, c]) * i32(%w[c, g, o])",
        ("%y[i_1, j_high, j_low] = %sum[i_1, j_high, j_low] + %b[j_high, "
         "j_low]")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  }
}

TEST(SplitDims, KeepsWhatOthersReadOtherwise) {
  // The stage after the product reads its result backwards, so the dims of the
  // result are not split. Those of the product's input are.
  const std::string text =
      SplitText(Grouped("%y[i, j] = %sum[i, 47 - j] + %b[j]"), 1);
  EXPECT_NE(text.find("%x[i, g, c]"), std::string::npos) << text;
  EXPECT_NE(text.find("%y: output i32[5, 48]"), std::string::npos) << text;
  EXPECT_NE(text.find("g * 12 + o] = "), std::string::npos) << text;
  // %x is read in groups of 8 elements and in groups of 16, so its dim is not
  // split.
  const std::string other = SplitText(R"(
dispatch @groups(%x: f32[5, 32], %w: f32[8, 16]) -> (%y: f32[5, 16], %z: f32[5, 32]) {
  for (i < 5, g < 4, o < 4) %y[i, g * 4 + o] = sum(c < 8) %x[i, g * 8 + c] * %w[c, g * 4 + o]
  for (i < 5, g < 2, o < 16) %z[i, g * 16 + o] = neg(%x[i, g * 16 + o])
})",
                                      1);
  EXPECT_NE(other.find("%x[i, g * 8 + c]"), std::string::npos) << other;
  EXPECT_NE(other.find("%y: output f32[5, 4, 4]"), std::string::npos) << other;
}

TEST(SplitDims, KeepsWhatIsShuffled) {
  // A shuffle of channels stores channels of several groups next to each other,
  // so the dims of the sum are not split.
  const std::string text = SplitText(R"(
dispatch @groups(%x: f32[5, 32], %w: f32[8, 48], %b: f32[48]) -> (%y: f32[5, 12, 4]) {
  temp %sum: f32[5, 48]
  temp %biased: f32[5, 48]
  for (i < 5, g < 4, o < 12) %sum[i, g * 12 + o] = sum(c < 8) %x[i, g * 8 + c] * %w[c, g * 12 + o]
  %biased[i, j] = %sum[i, j] + %b[j]
  %y[i, o, g] = %biased[i, g * 12 + o]
})",
                                     1);
  EXPECT_NE(text.find("%w: input f32[8, 4, 12]"), std::string::npos) << text;
  EXPECT_NE(text.find("%sum: f32[5, 48]"), std::string::npos) << text;
  EXPECT_NE(text.find("%biased: f32[5, 48]"), std::string::npos) << text;
}

TEST(SplitDims, ValuesOfSplitAxes) {
  // If a value uses the axis j, the sum of its digits, j_high * 12 + j_low,
  // takes its place.
  const std::string text =
      SplitText(Grouped("%y[i, j] = %sum[i, j] + %b[j] * i32(j)"), 1);
  EXPECT_NE(text.find("i32(j_high * 12 + j_low)"), std::string::npos) << text;
}

}  // namespace
}  // namespace ember::schedule
