#include "jit/gpu/lifetimes.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"

namespace ember::jit::gpu {
namespace {

size_t BufferOf(const loops::LoopNest& nest, std::string_view name) {
  return static_cast<size_t>(
      std::ranges::find(nest.buffers, name, &loops::Buffer::name) -
      nest.buffers.begin());
}

// True if %a and %b of a nest with this body may be in use at the same time.
bool MayOverlap(std::string_view body) {
  const auto nest = loops::Parse(
      "loops @t(%x: input f32[64], %y: output f32[64]) {\n"
      "  task %a: f32[64]\n  task %b: f32[64]\n"
      "  phase t < 1 {\n" +
      std::string(body) + "  }\n}\n");
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return true;
  return Lifetimes(*nest, nest->phases[0].body)
      .MayOverlap(BufferOf(*nest, "a"), BufferOf(*nest, "b"));
}

TEST(LifetimesTest, OneBehindTheOther) {
  EXPECT_FALSE(MayOverlap(R"(
    invocation i < 64 { %a[i] = %x[i] }
    invocation i < 64 { %y[i] = %a[63 - i] }
    invocation i < 64 { %b[i] = %x[i] }
    invocation i < 64 { %y[i] = %b[63 - i] }
)"));
  EXPECT_TRUE(MayOverlap(R"(
    invocation i < 64 { %a[i] = %x[i] }
    invocation i < 64 { %b[i] = %x[i] }
    invocation i < 64 { %y[i] = %a[63 - i] + %b[63 - i] }
)"));
}

TEST(LifetimesTest, NeverUsed) {
  EXPECT_FALSE(MayOverlap("    invocation i < 64 { %a[i] = %x[i] }\n"));
}

// No iteration reads what an earlier one has stored, so %a and %b are not in
// use at the same time.
TEST(LifetimesTest, InTheIterationsOfALoop) {
  EXPECT_FALSE(MayOverlap(R"(
    for k < 4 {
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %y[i] += %a[63 - i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
  // %a is read only after %a's only store of the iteration, but only if k < 2.
  // No iteration reads what an earlier one stored, so %a and %b are not in use
  // at the same time.
  EXPECT_FALSE(MayOverlap(R"(
    for k < 4 {
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %y[i] += select(k < 2, %a[63 - i], 0.0) }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
  // The loop over k, which contains all uses of %a and %b, is inside a second
  // loop. The two buffers are still not in use at the same time.
  EXPECT_FALSE(MayOverlap(R"(
    for j < 2 {
      for k < 4 {
        invocation i < 64 { %a[i] = %x[i] }
        invocation i < 64 { %y[i] += %a[63 - i] }
        invocation i < 64 { %b[i] = %x[i] }
        invocation i < 64 { %y[i] += %b[63 - i] }
      }
    }
)"));
}

TEST(LifetimesTest, WhatIsLeftForTheNextIteration) {
  // %a is summed up over the iterations, so it is in use throughout the loop.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      invocation i < 64 { %a[i] += %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += select(k == 3, %a[i], 0.0) + %b[63 - i] }
    }
)"));
  // Each iteration but the first reads what the previous one has stored to %a,
  // so %a is in use throughout the loop.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      invocation i < 64 { %y[i] += select(0 < k, %a[63 - i], 0.0) }
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      if 0 < k { invocation i < 64 { %y[i] += %a[63 - i] } }
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
  // Each iteration stores some elements of %a, and the last iteration reads all
  // of them, so %a is in use throughout the loop.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      invocation i < 16 { %a[k * 16 + i] = %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
      if k == 3 { invocation i < 64 { %y[i] += %a[63 - i] } }
    }
)"));
  // %a is stored in the first iteration only and read in all, so it is in use
  // throughout the loop.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      if k == 0 { invocation i < 64 { %a[i] = %x[i] } }
      invocation i < 64 { %y[i] += %a[63 - i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
  // %a is read after the loop, so it is in use until then.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
    invocation i < 64 { %y[i] += %a[63 - i] }
)"));
  // An iteration stores only a part of %a again. The rest may come from an
  // earlier iteration, so %a is in use throughout the loop.
  EXPECT_TRUE(MayOverlap(R"(
    for k < 4 {
      invocation i < 32 { %a[i] = %x[i] }
      invocation i < 64 { %y[i] += select(0 < k, %a[63 - i], 0.0) }
      invocation i < 64 { %a[i] = %x[i] }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
)"));
}

// In each iteration of the loop over j a ring buffer is filled, and read until
// it is no longer needed. So it is not in use at the same time as %b.
TEST(LifetimesTest, RingsInALoop) {
  const auto nest = loops::Parse(R"(
loops @t(%x: input f32[64], %y: output f32[64]) {
  task %ring: f32[2, 64]
  task %b: f32[64]
  phase t < 1 {
    for j < 2 {
      invocation i < 64 { %ring[0, i] = %x[i] }
      for k < 4 {
        if k + 1 < 4 {
          invocation i < 64 { %ring[mod(k + 1, 2), i] = %x[i] }
        }
        invocation i < 64 { %y[i] += %ring[mod(k, 2), 63 - i] }
      }
      invocation i < 64 { %b[i] = %x[i] }
      invocation i < 64 { %y[i] += %b[63 - i] }
    }
  }
})");
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_FALSE(Lifetimes(*nest, nest->phases[0].body).MayOverlap(2, 3));
}

// Returns the body of a nest: a loop over five statements, with barriers before
// the statements whose numbers are given.
std::string LoopWithBarriers(const std::set<int>& barriers) {
  constexpr std::string_view kStatements[] = {
      "%a[i] = %x[i]", "%y[i] += %a[63 - i]", "%y[i] += %x[i]", "%b[i] = %x[i]",
      "%y[i] += %b[63 - i]"};
  std::string body = "    for k < 4 {\n";
  for (int i = 0; i < 5; ++i) {
    if (barriers.contains(i)) body += "      barrier\n";
    body += "      invocation i < 64 { " + std::string(kStatements[i]) + " }\n";
  }
  return body + "    }\n";
}

// Two buffers of a loop share bytes. The loop needs barriers between their
// uses, both in an iteration and before the next one.
TEST(LifetimesTest, BarriersBetweenUses) {
  const auto have = [](const std::set<int>& barriers, std::string_view one,
                       std::string_view other) {
    const auto nest = loops::Parse(
        "loops @t(%x: input f32[64], %y: output f32[64]) {\n"
        "  task %a: f32[64]\n  task %b: f32[64]\n  task %c: f32[64]\n"
        "  phase t < 1 {\n" +
        LoopWithBarriers(barriers) +
        "    invocation i < 64 { %c[i] = %x[i] }\n"
        "    invocation i < 64 { %y[i] += %c[63 - i] }\n"
        "  }\n}\n");
    EXPECT_TRUE(nest.ok()) << nest.status().ToString();
    if (!nest.ok()) return false;
    const Lifetimes lifetimes(*nest, nest->phases[0].body);
    const size_t a = BufferOf(*nest, one), b = BufferOf(*nest, other);
    EXPECT_FALSE(lifetimes.MayOverlap(a, b));
    EXPECT_EQ(lifetimes.HaveBarriersBetween(a, b),
              lifetimes.HaveBarriersBetween(b, a));
    return lifetimes.HaveBarriersBetween(a, b);
  };
  EXPECT_TRUE(have({2, 0}, "a", "b"));
  EXPECT_TRUE(have({3, 0}, "a", "b"));
  // The barriers 2 and 3 are both between %a and %b. None is between the last
  // use of %b and the first use of %a in the next iteration.
  EXPECT_FALSE(have({2, 3}, "a", "b"));
  // There is no barrier between the use of %a and that of %b in an iteration:
  // the one before the statement that reads %a comes too early.
  EXPECT_FALSE(have({1, 4, 0}, "a", "b"));
  // %a and %c are not used in a common loop, so no barrier between their uses
  // is needed.
  EXPECT_TRUE(have({}, "a", "c"));
}

}  // namespace
}  // namespace ember::jit::gpu
