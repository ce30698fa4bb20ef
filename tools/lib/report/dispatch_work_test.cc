#include "tools/lib/report/dispatch_work.h"

#include "gtest/gtest.h"
#include "tensor/text/text.h"

namespace ember::tools {
namespace {

DispatchWork Work(std::string_view text, std::vector<int64_t> parameters = {}) {
  const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const StatusOr<DispatchWork> work = WorkOf(*dispatch, parameters);
  EXPECT_TRUE(work.ok()) << work.status().ToString();
  return work.ok() ? *work : DispatchWork();
}

TEST(DispatchWorkTest, ProductOfMatrices) {
  const DispatchWork work = Work(
      "dispatch @gemm<N>(%x: f32[N, 3], %w: f32[3, 7]) -> (%y: f32[N, 7]) {\n"
      "  %y[i, j] = sum(k<3) %x[i, k] * %w[k, j]\n}\n",
      {5});
  EXPECT_EQ(work.operations, 2 * 5 * 7 * 3);
  EXPECT_EQ(work.bytes, 4 * (5 * 3 + 3 * 7 + 5 * 7));
  EXPECT_EQ(work.points, 5 * 7 * 3);
  EXPECT_EQ(work.text, "5x7xf32, sum of 3");
}

TEST(DispatchWorkTest, IndexArithmeticIsNoWorkAndPaddingNoTraffic) {
  const DispatchWork work = Work(
      "dispatch @conv(%x: f16[8], %w: f16[3]) -> (%y: f16[4]) {\n"
      "  %y[i] = sum(k<3) pad(%x[2 * i + k - 1], 0.0) * %w[k]\n}\n");
  EXPECT_EQ(work.operations, 2 * 4 * 3);
  EXPECT_EQ(work.bytes, 2 * (8 + 3 + 4));
}

TEST(DispatchWorkTest, StagesAddUpAndWhatDoesNotVaryIsDoneOnce) {
  // The counted operations are: exp(s[i]) for each i; its product with x for
  // each (i, j); the additions of the sum.
  const DispatchWork work = Work(
      "dispatch @f(%x: f32[4, 5], %s: f32[4]) -> (%y: f32[4]) {\n"
      "  temp %t: f32[4, 5]\n"
      "  %t[i, j] = %x[i, j] * exp(%s[i])\n"
      "  %y[i] = sum(j<5) %t[i, j]\n}\n");
  EXPECT_EQ(work.operations, 4 + 20 + 20);
  EXPECT_EQ(work.bytes, 4 * (20 + 4 + 4)) << "temporaries do not count";
  EXPECT_EQ(work.text, "4xf32") << "of the stage with most operations";
}

TEST(DispatchWorkTest, GathersReadWhatTheyUse) {
  const DispatchWork work = Work(
      "dispatch @gather(%x: f32[1000, 4], %p: i64[2]) -> (%y: f32[2, 4]) {\n"
      "  %y[i, j] = %x[%p[i], j]\n}\n");
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.bytes, 4 * 2 * 4 + 8 * 2 + 4 * 2 * 4);
  EXPECT_EQ(work.text, "2x4xf32");
}

TEST(DispatchWorkTest, NothingToDo) {
  const DispatchWork work = Work(
      "dispatch @f<N>(%x: f32[N, 3]) -> (%y: f32[3]) {\n"
      "  %y[j] = maximum(i<N) %x[i, j] + 1.0\n}\n",
      {0});
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.bytes, 4 * 3);
  EXPECT_EQ(work.text, "3xf32, max of 0");
}

}  // namespace
}  // namespace ember::tools
