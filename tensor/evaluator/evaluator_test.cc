#include "tensor/evaluator/evaluator.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

Status RunText(const std::string& text, std::vector<int64_t> parameters,
               std::vector<void*> buffers, EvaluateOptions options = {}) {
  const StatusOr<Dispatch> dispatch = Parse(text);
  if (!dispatch.ok()) return dispatch.status();
  return Evaluate(*dispatch, parameters, buffers, options);
}

#define ASSERT_OK(expression)                     \
  do {                                            \
    const Status status = (expression);           \
    ASSERT_TRUE(status.ok()) << status.message(); \
  } while (false)

using Floats = std::vector<float>;

TEST(EvaluatorTest, Matmul) {
  Floats a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 1, 1}, c(4);
  ASSERT_OK(RunText(R"(
dispatch @matmul<M, K, N>(%a: f32[M, K], %b: f32[K, N]) -> (%c: f32[M, N]) {
  %c[i, j] = sum(k < K) %a[i, k] * %b[k, j]
})",
                    {2, 3, 2}, {a.data(), b.data(), c.data()}));
  EXPECT_EQ(c, (Floats{4, 5, 10, 11}));
}

TEST(EvaluatorTest, ConvolutionWithPad) {
  Floats x = {1, 2, 3, 4}, w = {1, 10, 100}, y(4);
  ASSERT_OK(RunText(R"(
dispatch @conv<W>(%x: f32[W], %w: f32[3]) -> (%y: f32[W]) {
  %y[i] = sum(d < 3) pad(%x[i + d - 1], 0) * %w[d]
})",
                    {4}, {x.data(), w.data(), y.data()}));
  EXPECT_EQ(y, (Floats{210, 321, 432, 43}));
}

TEST(EvaluatorTest, SoftmaxChain) {
  Floats x = {0, std::log(3.0f), 1, 1}, y(4);
  ASSERT_OK(RunText(R"(
dispatch @softmax(%x: f32[2, 2]) -> (%y: f32[2, 2]) {
  temp %m: f32[2]
  temp %e: f32[2, 2]
  temp %s: f32[2]
  %m[i] = maximum(k < 2) %x[i, k]
  %e[i, j] = exp(%x[i, j] - %m[i])
  %s[i] = sum(k < 2) %e[i, k]
  %y[i, j] = %e[i, j] / %s[i]
})",
                    {}, {x.data(), y.data()}));
  EXPECT_NEAR(y[0], 0.25f, 1e-6);
  EXPECT_NEAR(y[1], 0.75f, 1e-6);
  EXPECT_EQ(y[2], 0.5f);
}

TEST(EvaluatorTest, ArgmaxFold) {
  Floats x = {3, 9, 9, 1, -1, -2, -3, -4};
  std::vector<int64_t> place(2);
  Floats best(2);
  ASSERT_OK(RunText(R"(
dispatch @argmax(%x: f32[2, 4]) -> (%v: f32[2], %p: i64[2]) {
  for (i < 2) fold(k < 4) {
    element %e0: f32 = %x[i, k] from -inf
    element %e1: i64 = k from 0
    next %a0 = select(%a0 < %e0, %e0, %a0)
    next %a1 = select(%a0 < %e0, %e1, %a1)
    %v[i] = %a0
    %p[i] = %a1
  }
})",
                    {}, {x.data(), best.data(), place.data()}));
  EXPECT_EQ(best, (Floats{9, -1}));
  EXPECT_EQ(place, (std::vector<int64_t>{1, 0}));
}

TEST(EvaluatorTest, FoldsRunInOrderAndMayCarryMoreThanTheyStore) {
  // The fold is Welford's algorithm: it computes the mean and the sum of
  // squared deviations, with a count that is not stored.
  Floats x = {2, 4, 4, 4, 5, 5, 7, 9}, mean(1), m2(1);
  ASSERT_OK(RunText(R"(
dispatch @welford(%x: f32[8]) -> (%mean: f32[], %m2: f32[]) {
  for () fold(k < 8) {
    element %e0: f32 = %x[k] from 0
    element %e1: f32 = 0 from 0
    element %e2: f32 = 1 from 0
    let %count = %a2 + %e2
    let %delta = %e0 - %a0
    let %mean = %a0 + %delta / %count
    next %a0 = %mean
    next %a1 = %a1 + %delta * (%e0 - %mean)
    next %a2 = %count
    %mean[] = %a0
    %m2[] = %a1
  }
})",
                    {}, {x.data(), mean.data(), m2.data()}));
  EXPECT_FLOAT_EQ(mean[0], 5);
  EXPECT_FLOAT_EQ(m2[0], 32);
}

TEST(EvaluatorTest, ConcatByRegions) {
  Floats a = {1, 2, 3, 4}, b = {5, 6}, y(6);
  ASSERT_OK(RunText(R"(
dispatch @concat<N>(%a: f32[N, 2], %b: f32[N, 1]) -> (%y: f32[N, 3]) {
  for (n < N, c < 2) %y[n, c] = %a[n, c]
  for (n < N, c < 1) %y[n, c + 2] = %b[n, c]
})",
                    {2}, {a.data(), b.data(), y.data()}));
  EXPECT_EQ(y, (Floats{1, 2, 5, 3, 4, 6}));
}

TEST(EvaluatorTest, ScatterAddsAndGatherReads) {
  std::vector<int32_t> places = {2, 0, 2};
  Floats updates = {1, 10, 100}, y(3), z(3);
  ASSERT_OK(RunText(R"(
dispatch @scatter(%i: i32[3], %u: f32[3]) -> (%y: f32[3], %z: f32[3]) {
  %y[n] = 0.5
  for (m < 3) %y[i64(%i[m])] += %u[m]
  %z[n] = %y[i64(%i[n])]
})",
                    {}, {places.data(), updates.data(), y.data(), z.data()}));
  EXPECT_EQ(y, (Floats{10.5, 0.5, 101.5}));
  EXPECT_EQ(z, (Floats{101.5, 10.5, 101.5}));
}

TEST(EvaluatorTest, OutOfRangeIsAnErrorThatNamesAll) {
  std::vector<int32_t> places = {0, 3};
  Floats x = {1, 2, 3}, y(2);
  const std::string gather = R"(
dispatch @gather(%x: f32[3], %i: i32[2]) -> (%y: f32[2]) {
  %y[n] = %x[i64(%i[n])]
})";
  EXPECT_EQ(RunText(gather, {}, {x.data(), places.data(), y.data()}).message(),
            "dispatch @gather: buffer %x: expected index 0 in 0..3 "
            "(exclusive), found 3");
  places[1] = -1;
  EXPECT_EQ(RunText(gather, {}, {x.data(), places.data(), y.data()}).message(),
            "dispatch @gather: buffer %x: expected index 0 in 0..3 "
            "(exclusive), found -1");
  EXPECT_EQ(
      RunText("dispatch @s() -> (%y: f32[2]) { for (i < 3) %y[i] = 1 }", {},
              {y.data()})
          .message(),
      "dispatch @s: buffer %y: expected index 0 in 0..2 (exclusive), found 2");
}

TEST(EvaluatorTest, EmptyReductionsGiveIdentities) {
  Floats sum(1), product(1), least(1), most(1), folded(1);
  std::vector<int8_t> least8(1);
  Floats x = {1};
  ASSERT_OK(RunText(R"(
dispatch @empty<N>(%x: f32[N]) -> (%s: f32[], %p: f32[], %l: f32[], %m: f32[], %l8: i8[], %f: f32[]) {
  %s[] = sum(k < N) %x[k]
  %p[] = prod(k < N) %x[k]
  %l[] = minimum(k < N) %x[k]
  %m[] = maximum(k < N) %x[k]
  %l8[] = minimum(k < N) i8(%x[k])
  for () fold(k < N) {
    element %e0: f32 = %x[k] from 42
    next %a0 = %e0
    %f[] = %a0
  }
})",
                    {0},
                    {x.data(), sum.data(), product.data(), least.data(),
                     most.data(), least8.data(), folded.data()}));
  EXPECT_EQ(sum[0], 0);
  EXPECT_EQ(product[0], 1);
  EXPECT_EQ(least[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(most[0], -std::numeric_limits<float>::infinity());
  EXPECT_EQ(least8[0], 127);
  EXPECT_EQ(folded[0], 42);
}

TEST(EvaluatorTest, AccumulationIsWiderThanNarrowTypes) {
  // The dispatch adds 4096 ones of type f16. An accumulator in f16 would stop
  // at 2048, so this shows that sums accumulate in f32.
  std::vector<uint16_t> x(4096, ToFloat16(1.0f).bits), y(1);
  ASSERT_OK(
      RunText("dispatch @s(%x: f16[4096]) -> (%y: f16[]) { %y[] = sum(k < "
              "4096) %x[k] }",
              {}, {x.data(), y.data()}));
  EXPECT_EQ(ToFloat(Float16{y[0]}), 4096.0f);
}

TEST(EvaluatorTest, AccumulatesInF64OnRequest) {
  Floats x = {1e8f, 1, -1e8f}, y(1);
  const std::string text =
      "dispatch @s(%x: f32[3]) -> (%y: f32[]) { %y[] = sum(k < 3) %x[k] }";
  ASSERT_OK(RunText(text, {}, {x.data(), y.data()}));
  EXPECT_EQ(y[0], 0);
  ASSERT_OK(
      RunText(text, {}, {x.data(), y.data()}, {.accumulate_in_f64 = true}));
  EXPECT_EQ(y[0], 1);
}

TEST(EvaluatorTest, WrongParametersAndBuffersAreErrors) {
  const std::string text = "dispatch @t<N>() -> (%y: f32[N - 1]) { %y[i] = 0 }";
  float y[1];
  EXPECT_EQ(RunText(text, {}, {y}).message(),
            "dispatch @t: expected 1 parameters, found 0");
  EXPECT_EQ(RunText(text, {0}, {y}).message(),
            "dispatch @t: buffer %y: expected extent 0 in 0..1099511627776, "
            "found -1");
  EXPECT_EQ(RunText(text, {2}, {}).message(),
            "dispatch @t: expected 1 buffers, found 0");
  EXPECT_EQ(RunText(text, {2}, {y, y}).message(),
            "dispatch @t: expected 1 buffers, found 2");
  EXPECT_EQ(
      RunText(text, {INT64_MIN}, {y}).message(),
      "dispatch @t: the parameters make header register 2 overflow 64 bits");
  EXPECT_EQ(RunText("dispatch @t<N>() -> (%y: f32[N, N]) { %y[i, j] = 0 }",
                    {int64_t{1} << 40}, {y})
                .message(),
            "dispatch @t: buffer %y: expected a size of at most 2^62");
}

}  // namespace
}  // namespace ember::tensor
