// Tests the order of axes. collapse_axes_test.cc tests that results are the
// same.
#include "jit/schedule/core/order_axes.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

// Returns the names of the last stage's axes, including those of its sum.
std::string AxesOf(std::string_view text) {
  const auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  OrderAxes(computation);
  std::string names;
  for (const ComputationAxis& axis : computation.stages.back().axes)
    names += (names.empty() ? "" : " ") + axis.name;
  return names;
}

// Returns a dispatch with the second product of attention: weights times
// values. The result has the shape `shape` and is stored at the indices `axes`.
std::string Weighted(const std::string& shape, const std::string& axes,
                     const std::string& weight, const std::string& value) {
  return R"(
dispatch @weighted(%x: f32[2, 3, 4, 5], %v: f32[2, 3, 5, 6]) -> (%y: f32[)" +
         shape + R"(]) {
  temp %p: f32[2, 3, 4, 5]
  %p[b, h, i, k] = exp(%x[b, h, i, k])
  %y[)" + axes +
         "] = sum(k < 5) %p[" + weight + "] * %v[" + value + "]\n}";
}

TEST(OrderAxes, RowsComeAsTheyWereMade) {
  EXPECT_EQ(
      AxesOf(Weighted("2, 4, 3, 6", "b, i, h, d", "b, h, i, k", "b, h, k, d")),
      "b h i d k");
  EXPECT_EQ(
      AxesOf(Weighted("4, 2, 3, 6", "i, b, h, d", "b, h, i, k", "b, h, k, d")),
      "b h i d k");
  EXPECT_EQ(
      AxesOf(Weighted("2, 3, 4, 6", "b, h, i, d", "b, h, i, k", "b, h, k, d")),
      "b h i d k");
}

TEST(OrderAxes, TheLanesAxisStaysTheLast) {
  EXPECT_EQ(
      AxesOf(Weighted("2, 3, 6, 4", "b, h, d, i", "b, h, i, k", "b, h, k, d")),
      "b h d i k");
}

TEST(OrderAxes, BehindAProduct) {
  EXPECT_EQ(AxesOf(R"(
dispatch @heads(%x: f32[2, 3, 4, 5], %v: f32[2, 3, 5, 6], %c: f32[6]) -> (%y: f32[2, 4, 3, 6]) {
  temp %p: f32[2, 3, 4, 6]
  %p[b, h, i, d] = sum(k < 5) %x[b, h, i, k] * %v[b, h, k, d]
  %y[b, i, h, d] = %p[b, h, i, d] + %c[d]
})"),
            "b h i d");
}

// The order of an input's dims does not change the order of a stage's axes:
// only temporaries count.
TEST(OrderAxes, InputsDoNotCount) {
  EXPECT_EQ(AxesOf(R"(
dispatch @transpose(%x: f32[2, 3, 4, 6]) -> (%y: f32[2, 4, 3, 6]) {
  %y[b, i, h, d] = %x[b, h, i, d] + 1.0
})"),
            "b i h d");
}

// A stage whose result another stage reads keeps its axes in the order of the
// result's dims.
TEST(OrderAxes, WhatIsReadAgainStays) {
  const auto dispatch = tensor::Parse(R"(
dispatch @twice(%x: f32[2, 3, 4, 6]) -> (%y: f32[2, 4, 3, 6], %z: f32[2, 4, 3]) {
  temp %p: f32[2, 3, 4, 6]
  %p[b, h, i, d] = exp(%x[b, h, i, d])
  %y[b, i, h, d] = %p[b, h, i, d] + 1.0
  %z[b, i, h] = sum(d < 6) %y[b, i, h, d]
})");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  OrderAxes(computation);
  EXPECT_EQ(computation.stages[1].axes[1].name, "i");
}

}  // namespace
}  // namespace ember::schedule
