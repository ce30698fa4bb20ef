// Each primitive: what it makes of a tiny dispatch.
#include "jit/schedule/primitives/primitives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/primitives_testing.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

// --- what they do ---

TEST(Primitives, Split) {
  ExpectNest(kAdd, "split %y j 3 -> j0 j1", R"(
    for i < 4 { for j0 < 2 { for j1 < 3 {
      let %t0 = j0 * 3 + j1
      %y[i, %t0] = %x[i, %t0] + 1.0)");
  ExpectNest(kAdd, "split %y j 4 -> j0 j1", R"(
    for i < 4 { for j0 < 2 { for j1 < 4 { if j0 * 4 + j1 < 6 {)");
}

TEST(Primitives, Tile) {
  ExpectNest(kAdd, "tile %y i j 2 3 -> i0 j0 i1 j1", R"(
    for i0 < 2 { for j0 < 2 { for i1 < 2 { for j1 < 3 {
      let %t0 = i0 * 2 + i1
      let %t1 = j0 * 3 + j1
      %y[%t0, %t1] = %x[%t0, %t1] + 1.0)");
}

TEST(Primitives, Fuse) {
  ExpectNest(kAdd, "fuse %y i j -> ij", R"(
    for ij < 24 {
      %y[floordiv(ij, 6), mod(ij, 6)]
          = %x[floordiv(ij, 6), mod(ij, 6)] + 1.0)");
}

TEST(Primitives, Reorder) {
  ExpectNest(kAdd, "reorder %y j i",
             "for j < 6 { for i < 4 { %y[i, j] = %x[i, j] + 1.0");
  // k stands outside the points: an element in progress for each.
  ExpectNest(kProduct, "reorder %acc k i", R"(
    for k < 5 { for j < 6 { for i < 4 {)");
}

TEST(Primitives, Marks) {
  ExpectNest(kAdd, "vectorize %y j\n unroll %y i", R"(
    unroll i < 4 { vector j < 6 { %y[i, j] = %x[i, j] + 1.0)");
  ExpectNest(kAdd, "parallel %y i", R"(
    phase i < 4 { for j < 6 { %y[i, j] = %x[i, j] + 1.0)");
}

TEST(Primitives, Bind) {
  ExpectNest(kAdd, "parallel %y i\n bind %y j", R"(
    phase i < 4 { invocation j < 6 { %y[i, j] = %x[i, j] + 1.0)");
  ExpectNest(kAdd, "fuse %y i j -> n\n split %y n 7 -> a b\n bind %y b", R"(
    for a < 4 { invocation b < 7 { if a * 7 + b < 24 {)");
}

// Each invocation has registers of its own for as long as the sums grow.
TEST(Primitives, BindInsideReductions) {
  constexpr std::string_view kLines = R"(
    split %acc i 2 -> i0 i1
    reorder %acc i0 k j i1
    bind %acc j
    unroll %acc i1)";
  ExpectNest(kProduct, kLines, R"(
    for i0 < 2 {
      invocation j < 6 { unroll i1 < 2 { %acc.part.4[j, i1] = 0.0 } }
      for k < 5 {
        invocation j < 6 {
          unroll i1 < 2 {
            %acc.part.4[j, i1] += %a[i0 * 2 + i1, k] * %b[k, j]
          }
        }
      }
      invocation j < 6 {
        unroll i1 < 2 { %acc[i0 * 2 + i1, j] = %acc.part.4[j, i1] } } })");
  ExpectNest(kProduct, kLines, "register %acc.part.4: f32[6, 2]");
  // Not known which: memory that the invocations share the parts of.
  ExpectNest(kProduct, "reorder %acc k j i\n bind %acc j",
             "task %acc.part.4: f32[6, 4]");
}

// What invocations compute at the same time is kept apart.
TEST(Primitives, BindAroundStages) {
  ExpectNest(kProduct, "compute_at %acc %y j\n bind %y j", R"(
    for i < 4 {
      invocation j < 6 {
        %acc.part.4[j] = 0.0
        for k < 5 { %acc.part.4[j] += %a[i, k] * %b[k, j] }
        %acc[j] = %acc.part.4[j]
        %y[i, j] = max(%acc[j], 0.0)
      } })");
  ExpectNest(kProduct, "compute_at %acc %y j\n bind %y j",
             "register %acc: f32[6]");
  // Several of each, which are not known before.
  ExpectNest(R"(
    dispatch @sums(%x: f32[6, 9]) -> (%y: f32[6]) {
      temp %t: f32[6, 9]
      %t[i, k] = %x[i, k] + 1.0
      %y[i] = sum(k < 9) %t[i, k] * %t[i, 8 - k]
    })",
             "bind %y i\n compute_at %t %y i", "task %t: f32[6, 1, 9]");
}

// Computed together before, and shared.
TEST(Primitives, BindStagesTogether) {
  constexpr std::string_view kTurned = R"(
    dispatch @turned(%a: f32[4, 5], %b: f32[5, 6]) -> (%y: f32[4, 6]) {
      temp %acc: f32[4, 6]
      %acc[i, j] = sum(k < 5) %a[i, k] * %b[k, j]
      %y[i, j] = max(%acc[i, 5 - j], 0.0)
    })";
  constexpr std::string_view kLines =
      "compute_at %acc %y i\n bind %y j\n bind %acc j";
  ExpectNest(kTurned, kLines, R"(
    for i < 4 {
      invocation j_1 < 6 {
        %acc.part.4[j_1] = 0.0
        for k < 5 { %acc.part.4[j_1] += %a[i, k] * %b[k, j_1] }
        %acc[0, j_1] = %acc.part.4[j_1]
      }
      invocation j < 6 { %y[i, j] = max(%acc[0, 5 - j], 0.0) } })");
  ExpectNest(kTurned, kLines, "task %acc: f32[1, 6]");
  // Each reads what it made.
  ExpectNest(kProduct, kLines, R"(
      invocation j < 6 { %y[i, j] = max(%acc[j], 0.0) } })");
  ExpectNest(kProduct, kLines, "register %acc: f32[6]");
  // What is not of an invocation is no register that one reads.
  ExpectNest(kProduct, "compute_at %acc %y i\n bind %y j\n unroll %acc j",
             "task %acc: f32[1, 6]");
}

TEST(Primitives, Peel) {
  ExpectNest(kAdd, "split %y j 4 -> j0 j1\n peel %y j0", R"(
    for j0 < 2 {
      if j0 * 4 + 3 < 6 {
        for j1 < 4 {
          let %t0 = j0 * 4 + j1
          %y[i, %t0] = %x[i, %t0] + 1.0
        }
      }
      if 6 <= j0 * 4 + 3 {
        for j1 < 4 {
          if j0 * 4 + j1 < 6 {)");
}

TEST(Primitives, ComputeAt) {
  ExpectNest(kProduct, "compute_at %acc %y i", R"(
    for i < 4 {
      for j_1 < 6 {
        %acc.part.4[] = 0.0
        for k < 5 { %acc.part.4[] += %a[i, k] * %b[k, j_1] }
        %acc[0, j_1] = %acc.part.4[]
      }
      for j < 6 { %y[i, j] = max(%acc[0, j], 0.0) } })");
  ExpectNest(kProduct, "compute_at %acc %y i", "task %acc: f32[1, 6]");
}

TEST(Primitives, CacheRead) {
  ExpectNest(R"(
    dispatch @blur(%x: f32[6]) -> (%y: f32[6]) {
      %y[i] = pad(%x[i - 1], 0.0) + pad(%x[i + 1], 0.0)
    })",
             "cache_read %y %x -> xp", R"(
    for c0 < 8 { %xp[c0] = pad(%x[c0 - 1], 0.0) })");
}

// In a type that holds the values, which the stage then reads without a cast.
TEST(Primitives, CacheReadWidens) {
  constexpr std::string_view kWidens = R"(
    dispatch @blur(%x: bf16[6]) -> (%y: f32[6]) {
      %y[i] = f32(pad(%x[i - 1], 0.0)) * f32(pad(%x[i + 1], 0.0))
    })";
  ExpectNest(kWidens, "cache_read %y %x f32 -> xp",
             "for c0 < 8 { %xp[c0] = f32(pad(%x[c0 - 1], 0.0)) }");
  ExpectNest(kWidens, "cache_read %y %x f32 -> xp",
             "for i < 6 { %y[i] = %xp[i] * %xp[i + 2] }");
}

TEST(Primitives, Pack) {
  ExpectNest(kProduct, "pack %acc %b 1/4 0 1%4 -> bp",
             "call %bp: f32[2, 5, 4]");
  ExpectNest(kProduct, "pack %acc %b 1/4 0 1%4 -> bp", R"(
    for p0 < 2 { for p1 < 5 { for p2 < 4 {
      %bp[p0, p1, p2] = pad(%b[p1, p0 * 4 + p2], 0.0))");
  ExpectNest(kProduct, "pack %acc %b 1/4 0 1%4 -> bp",
             "%a[i, k] * %bp[floordiv(j, 4), k, mod(j, 4)]");
}

// Of a reduction each invocation combines a part, then all together, where the
// result is stored.
TEST(Primitives, BindReduction) {
  constexpr std::string_view kSum = R"(
    dispatch @sum(%x: f32[4, 10]) -> (%y: f32[4]) {
      %y[i] = sum(k < 10) %x[i, k]
    })";
  ExpectNest(kSum, "parallel %y i\n split %y k 4 -> k0 k1\n bind %y k1", R"(
    register %y.part.2: f32[4]
    phase i < 4 {
      invocation k1 < 4 { %y.part.2[k1] = 0.0 }
      for k0 < 3 {
        invocation k1 < 4 {
          if k0 * 4 + k1 < 10 { %y.part.2[k1] += %x[i, k0 * 4 + k1] }
        }
      }
      %y[i] = 0.0
      invocation k1 < 4 { %y[i] += %y.part.2[k1] }
    })");
  // Sums of narrow floats are rounded once.
  ExpectNest(R"(
    dispatch @sum(%x: f16[10]) -> (%y: f16[]) { %y[] = sum(k < 10) %x[k] })",
             "bind %y k", R"(
      %y.all.3[] = 0.0
      invocation k < 10 { %y.all.3[] += %y.part.2[k] }
      %y[] = f16(%y.all.3[]))");
}

constexpr std::string_view kAttention = R"(
  dispatch @attention(%x: f32[3, 8], %v: f32[8, 2]) -> (%y: f32[3, 2]) {
    temp %most: f32[3]
    temp %power: f32[3, 8]
    temp %total: f32[3]
    temp %p: f32[3, 8]
    %most[i] = maximum(k < 8) %x[i, k]
    %power[i, j] = exp(%x[i, j] - %most[i])
    %total[i] = sum(k < 8) %power[i, k]
    %p[i, j] = %power[i, j] / %total[i]
    %y[i, j] = sum(k < 8) %p[i, k] * %v[k, j]
  })";

// The dispatch under a schedule, for given x; v is 1, 2, ...
std::vector<float> AttentionOf(std::span<const float> x,
                               std::string_view lines) {
  Schedule schedule = ScheduleOf(kAttention);
  EXPECT_TRUE(Replay(lines, schedule).ok());
  EXPECT_EQ(KeepsRounding(schedule), lines.empty());
  auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  std::vector<float> in(x.begin(), x.end()), v(16), y(6);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i + 1);
  void* const buffers[] = {in.data(), v.data(), y.data()};
  EXPECT_TRUE(loops::Evaluate(*nest, {}, buffers).ok());
  return y;
}

TEST(Primitives, OnlineSoftmax) {
  constexpr std::string_view kBlocks = "online_softmax %y 4 -> sum whole";
  ExpectNest(kAttention, kBlocks, R"(
        for k_part < 2 {
          %most.part.9[] = -inf
          for k < 4 { %most.part.9[] max= %x[i, k_part * 4 + k] }
          %most[i, k_part] = %most.part.9[] } } })");
  // All of a block in the fold's loop over blocks, a row at a time.
  ExpectNest(kAttention, std::string(kBlocks) + R"(
    reorder %sum i k_part j
    compute_at %sum %y i
    compute_at %p %sum k_part
    compute_at %total %sum k_part
    compute_at %power %sum k_part
    compute_at %most %sum k_part)",
             "%y[i, j] = %sum[0, j] / %whole[0, j]");
  ExpectRefused(kAttention, "", "online_softmax %y 3 -> sum whole",
                "expected blocks that divide rows of 8 elements, found 3");
  ExpectRefused(kAttention, "split %power j 4 -> a b",
                "online_softmax %y 4 -> sum whole",
                "the stage's loops have been changed already: online_softmax "
                "it first");
  ExpectRefused(kAttention, "", "online_softmax %p 4 -> sum whole",
                "the stage is no product of a softmax: expected sums over one "
                "axis");
  ExpectRefused(kAttention, std::string(kBlocks),
                "online_softmax %y 4 -> more less",
                "the stage is no product of a softmax: expected sums over one "
                "axis");
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text(kAttention);
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::string reason = "the stage is no product of a softmax: ";
  const std::string line = "online_softmax %y 4 -> sum whole";
  ExpectRefused(with("maximum(k < 8) %x[i, k]", "maximum(k < 8) %x[i, 0]"), "",
                line,
                reason + "expected the maximum of what it is subtracted from");
  ExpectRefused(with("maximum(k", "minimum(k"), "", line,
                reason + "expected differences from a maximum of each row");
  ExpectRefused(with("exp(%x", "abs(%x"), "", line,
                reason + "expected powers of a difference");
  ExpectRefused(with("sum(k < 8) %power[i, k]", "sum(k < 8) %power[i, 1]"), "",
                line, reason + "expected the total of a row's powers");
  ExpectRefused(with("%power[i, j] / %total[i]", "%power[i, j] * %total[i]"),
                "", line,
                reason + "expected quotients of powers and their total");
  ExpectRefused(with("%p[i, k] * %v", "%p[i, 0] * %v"), "", line,
                reason +
                    "expected a factor that is another stage's result, read by "
                    "nothing else, row by row");
}

// Rows with infinities end as they do without blocks.
TEST(Primitives, OnlineSoftmaxOfInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::vector<float>> rows = {
      {1, 2, 3, 4, 5, 6, 7, 8},
      {9, 1, 1, 1, -kInfinity, -kInfinity, -kInfinity, -kInfinity},
      {-kInfinity, -kInfinity, -kInfinity, -kInfinity, 1, 2, 3, 4},
      {-kInfinity, 2, -kInfinity, -kInfinity, -kInfinity, -kInfinity, 1, 4},
      std::vector<float>(8, -kInfinity),
      {1, 2, 3, kInfinity, 1, 2, 3, 4},
      {1, 2, 3, 4, kInfinity, kInfinity, 3, 4},
      {1, 2, nan, 4, 1, 2, 3, 4},
      {1, 2, 3, 4, 1, 2, 3, nan},
      {-500, -400, 0, 0, 500, 600, 0, 0},
      {500, 600, 0, 0, -500, -400, 0, 0},
      std::vector<float>(8, 1e38f)};
  for (const std::vector<float>& row : rows) {
    std::vector<float> x = {0, 1, 0, 1, 0, 1, 0, 1};
    x.insert(x.end(), row.begin(), row.end());
    x.insert(x.end(), row.rbegin(), row.rend());
    const std::vector<float> expected = AttentionOf(x, "");
    for (const int block : {1, 2, 4, 8}) {
      const std::vector<float> y = AttentionOf(
          x, "online_softmax %y " + std::to_string(block) + " -> sum whole");
      for (size_t i = 0; i < y.size(); ++i) {
        if (std::isnan(expected[i]))
          EXPECT_TRUE(std::isnan(y[i])) << y[i];
        else
          EXPECT_NEAR(y[i], expected[i], 1e-6f * std::abs(expected[i]));
      }
    }
  }
}

TEST(Primitives, Rfactor) {
  constexpr std::string_view kSum = R"(
    dispatch @sum(%x: f32[4, 12]) -> (%y: f32[4]) {
      %y[i] = sum(k < 12) %x[i, k]
    })";
  ExpectNest(kSum, "rfactor %y k%4 -> parts", R"(
    for k_part < 4 {
      for i < 4 {
        %parts.part.3[] = 0.0
        for k < 3 { %parts.part.3[] += %x[i, k_part + k * 4] }
        %parts[k_part, i] = %parts.part.3[]
      }
    } }
    phase task_6 < 1 {
      for i_1 < 4 {
        %y.part.4[] = 0.0
        for k_1 < 4 { %y.part.4[] += %parts[k_1, i_1] }
        %y[i_1] = %y.part.4[] } })");
  ExpectNest(kSum, "rfactor %y k/4 -> parts", R"(
      for k_part < 3 {
        for i < 4 {
          %parts.part.3[] = 0.0
          for k < 4 { %parts.part.3[] += %x[i, k_part * 4 + k] })");
  ExpectNest(kSum, "rfactor %y k -> parts",
             "for k_part < 12 { for i < 4 { %parts[k_part, i] = %x[i, k_part]");
  // Past the end nothing is added.
  ExpectNest(R"(
    dispatch @most(%x: i32[10]) -> (%y: i32[]) {
      %y[] = maximum(k < 10) %x[k]
    })",
             "rfactor %y k%4 -> parts", R"(
        let %t0 = k_part + k * 4
        %parts.part.3[] max= select(10 <= %t0, -2147483648, %x[min(%t0, 9)]))");
  // A workgroup for each row, and a part for each of its invocations.
  ExpectNest(kSum,
             "rfactor %y k%4 -> parts\n compute_at %parts %y i\n"
             "bind %parts k_part\n parallel %y i",
             R"(
    phase i < 4 {
      invocation k_part < 4 {
        %parts.part.3[k_part] = 0.0
        for k_1 < 3 { %parts.part.3[k_part] += %x[i, k_part + k_1 * 4] }
        %parts[k_part, 0] = %parts.part.3[k_part]
      }
      %y.part.4[] = 0.0
      for k < 4 { %y.part.4[] += %parts[k, 0] })");
}

TEST(Primitives, CacheWrite) {
  // A tile of results in progress, stored when it is done.
  ExpectNest(kAdd,
             "cache_write %y -> t\n split %y j 3 -> j0 j1\n"
             "compute_at %t %y j0\n unroll %t j\n unroll %y j1",
             R"(
    for i < 4 {
      for j0 < 2 {
        unroll j < 3 { %t[0, j] = %x[i, j0 * 3 + j] + 1.0 }
        unroll j1 < 3 { %y[i, j0 * 3 + j1] = %t[0, j1] }
      } })");
  // Where results go, and how, stays with what copies them.
  ExpectNest(kGather, "cache_write %y.1 -> t", R"(
      for i_1 < 6 { check %x.0 %p[i_1] < 4 %t[i_1] = %x[%p[i_1]] }
    }
    phase task_5 < 1 {
      for i_2 < 6 { check %y.0 %p[i_2] < 4 %y[%p[i_2]] += %t[i_2] })");
}

TEST(Primitives, Tensorize) {
  // Four bytes of each factor lie together.
  ExpectNest(kBytes,
             "pack %y %b 1/2 0/4 1%2 0%4 -> w\n split %y j 2 -> j0 l\n"
             "split %y k 4 -> k0 k1\n reorder %y i j0 k0 l k1\n"
             "unroll %y j0\n tensorize %y k1\n vectorize %y l",
             R"(
          for k0 < 2 {
            vector l < 2 {
              dot k1 < 4 {
                %y.part.4[l] += i32(%a[i, k0 * 4 + k1]) * i32(%w[j0, k0, l, k1])
              }
            }
          })");
  // Two 16-bit integers, where machines have none of bytes.
  ExpectNest(kBytes,
             "pack %y %b i16 1 0 -> w\n pack %y %a i16 0 1 -> x\n"
             "split %y k 2 -> k0 k1\n tensorize %y k1",
             "dot k1 < 2 { let %t0 = k0 * 2 + k1 "
             "%y.part.5[] += i32(%x[i, %t0]) * i32(%w[j, %t0]) }");
}

TEST(Primitives, PackWidens) {
  ExpectNest(kBytes, "pack %y %a i16 1 0 -> x", "%x[p0, p1] = i16(%a[p1, p0])");
  ExpectNest(R"(
    dispatch @halves(%a: f16[4, 8]) -> (%y: f32[4]) {
      %y[i] = sum(k < 8) f32(%a[i, k]) * f32(%a[i, k])
    })",
             "pack %y %a f32 0 1 -> x", "%x[i, k] * %x[i, k]");
  // What is not cast is, to what it was.
  ExpectNest(R"(
    dispatch @copy(%a: i8[4]) -> (%y: i8[4]) {
      %y[i] = %a[i]
    })",
             "pack %y %a i32 0 -> x", "%y[i] = i8(%x[i])");
}

TEST(Primitives, PackKeepsRanges) {
  // What all values of the type are in needs no proof.
  ExpectNest(kBytes, "pack %y %b -128..127 1 0 -> w",
             "%w[p0, p1] = %b[p1, p0]");
  ExpectNest(kBytes, "pack %y %a i16 -1..256 1 0 -> w",
             "%w[p0, p1] = i16(%a[p1, p0])");
  Computation computation = ScheduleOf(kBytes).computation();
  computation.buffers[1].values = {-3, 64};
  Schedule schedule(std::move(computation));
  ASSERT_TRUE(Apply("pack %y %b i16 -64..64 1 0 -> w", schedule).ok());
  // The text is what is replayed.
  EXPECT_THAT(schedule.ToText(), HasSubstr("pack %y %b i16 -64..64 1 0 -> w"));
  const auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_THAT(loops::ToText(*nest),
              HasSubstr("= i16(min(max(%b[p1, p0], -64), 64))"));
  EXPECT_FALSE(Apply("pack %y %b -2..64 1 0 -> v", schedule).ok());
}

TEST(Primitives, Pad) {
  constexpr std::string_view kSeven = R"(
    dispatch @seven(%a: u8[4, 7], %b: i8[7, 6]) -> (%y: i32[4, 6]) {
      %y[i, j] = sum(k < 7) i32(%a[i, k]) * i32(%b[k, j])
    })";
  ExpectNest(kSeven, "pad %y k 4",
             "for k < 8 { %y.part.3[] += i32(pad(%a[i, k], 0)) * "
             "i32(pad(%b[k, j], 0)) }");
  // Copies hold the zeros.
  ExpectNest(kSeven,
             "pad %y k 4\n pack %y %a 0 1/4 1%4 -> x\n"
             "pack %y %b 1 0/4 0%4 -> w\n split %y k 4 -> k0 k1\n"
             "tensorize %y k1",
             "for k0 < 2 { dot k1 < 4 { %y.part.5[] += "
             "i32(%x[i, k0, k1]) * i32(%w[j, k0, k1]) } }");
}

// A copy of a copy stays outside of what reads it, wherever loops go.
TEST(Primitives, ReordersKeepProducersAroundTheirReaders) {
  ExpectRefused(R"(
    dispatch @grouped(%x: f32[1, 5, 3], %w: f32[5, 3, 6]) -> (%y: f32[1, 30]) {
      for (m < 1, g < 5, o < 6)
        %y[m, g * 6 + o] = sum(k < 3) %x[m, g, k] * %w[g, k, o]
    })",
                R"(
    cache_read %y %x -> first
    compute_at %first %y k
    reorder %y g m k
    cache_read %first %x -> second
    compute_at %second %y g)",
                "reorder %y k g m", "%first reads %second too, elsewhere");
}

// All of a result is computed, whatever is read of it, or it is refused.
TEST(Primitives, ResultsInsideLoopsAreWhole) {
  ExpectNest(R"(
    dispatch @rows(%x: f32[4, 6]) -> (%y: f32[4, 6], %z: f32[4]) {
      %y[i, j] = %x[i, j] + 1.0
      %z[i] = %y[i, mod(i * 2, 6)]
    })",
             "compute_at %y %z i", "for i < 4 { for j < 6 { %y[i, j] =");
  ExpectRefused(R"(
    dispatch @none(%x: f32[6]) -> (%y: f32[6], %z: f32[0]) {
      %y[i] = %x[i] + 1.0
      %z[i] = %y[2] * %y[3]
    })",
                "", "compute_at %y %z i",
                "%y is a result, and a loop around it may never run");
}

}  // namespace
}  // namespace ember::schedule
