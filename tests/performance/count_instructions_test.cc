#include "tests/performance/count_instructions.h"

#include <gtest/gtest.h>

#include <string>

#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"

namespace ember::tests {
namespace {

// Parses and checks the loop nest, and returns its numbers of arithmetic
// instructions and of memory accesses as "8 + 16", for vectors of 32 bytes.
std::string Count(const std::string& text,
                  std::vector<int64_t> parameters = {}) {
  const StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return "";
  const Status verified = loops::Verify(*nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString();
  const StatusOr<InstructionCount> count =
      CountInstructions(*nest, parameters, 32);
  if (!count.ok()) return count.status().ToString();
  return std::to_string(static_cast<int64_t>(count->arithmetic)) + " + " +
         std::to_string(static_cast<int64_t>(count->accesses));
}

TEST(CountInstructions, LanesAndElements) {
  // Each of 4 iterations has two vectors of 8 lanes, each with a
  // multiplication, a load and a store.
  EXPECT_EQ(Count(R"(
loops @scale(%x: input f32[64], %y: output f32[64]) {
  phase i < 4 { vector l < 16 { %y[i * 16 + l] = %x[i * 16 + l] * 2.0 } }
})"),
            "8 + 16");
  // Without a vector loop, each of 64 elements takes a multiplication, a load
  // and a store.
  EXPECT_EQ(Count(R"(
loops @scale(%x: input f32[64], %y: output f32[64]) {
  phase i < 64 { %y[i] = %x[i] * 2.0 }
})"),
            "64 + 128");
  // In each of 4 iterations all lanes load the same element (one instruction),
  // and each of 8 lanes stores to another row.
  EXPECT_EQ(Count(R"(
loops @spread(%x: input f32[4], %y: output f32[8, 4]) {
  phase i < 4 { vector l < 8 { %y[l, i] = %x[i] } }
})"),
            "0 + 36");
  // In each of 17 iterations the lanes load eight elements from four rows and
  // store eight adjacent ones, which is nine accesses.
  EXPECT_EQ(Count(R"(
loops @shuffle(%x: input f32[4, 34], %y: output f32[34, 4]) {
  phase i < 17 {
    vector l < 8 {
      %y[i * 2 + floordiv(l, 4), mod(l, 4)] = %x[mod(l, 4), i * 2 + floordiv(l, 4)]
    }
  }
})"),
            "0 + 153");
}

// Tests that the count shows a regression that has occurred: products whose
// vectors of eight lanes had one useful lane.
TEST(CountInstructions, Tiles) {
  // A tile of 2 by 16 results is in registers: each of 10 steps loads two
  // vectors and two elements, for four vector products.
  EXPECT_EQ(Count(R"(
loops @product(%a: input f32[2, 10], %b: input f32[10, 16], %y: output f32[2, 16]) {
  register %sum: f32[2, 2, 8]
  phase t < 1 {
    unroll i < 2 { unroll v < 2 { vector l < 8 { %sum[i, v, l] = 0.0 } } }
    for k < 10 {
      unroll i < 2 { unroll v < 2 { vector l < 8 {
        %sum[i, v, l] += %a[i, k] * %b[k, v * 8 + l]
      } } }
    }
    unroll i < 2 { unroll v < 2 { vector l < 8 { %y[i, v * 8 + l] = %sum[i, v, l] } } }
  }
})"),
            "40 + 44");
  // Without a tile the results are in memory, so each product also loads and
  // stores them.
  EXPECT_EQ(Count(R"(
loops @product(%a: input f32[2, 10], %b: input f32[10, 16], %y: output f32[2, 16]) {
  phase i < 2 {
    for v < 2 {
      vector l < 8 { %y[i, v * 8 + l] = 0.0 }
      for k < 10 {
        vector l < 8 { %y[i, v * 8 + l] += %a[i, k] * %b[k, v * 8 + l] }
      }
    }
  }
})"),
            "40 + 164");
}

TEST(CountInstructions, FollowsControl) {
  // For N = 43 there are five whole vectors and a rest of three elements.
  EXPECT_EQ(Count(R"(
loops @rest<N>(%x: input f32[N], %y: output f32[N]) {
  phase i < floordiv(N + 7, 8) {
    if i * 8 + 7 < N { vector l < 8 { %y[i * 8 + l] = 2.0 * %x[i * 8 + l] } }
    if N <= i * 8 + 7 {
      for j < 8 { if i * 8 + j < N { %y[i * 8 + j] = 2.0 * %x[i * 8 + j] } }
    }
  }
})",
                  {43}),
            "8 + 16");
  // In the second iteration only two lanes store, and in the last two none,
  // which costs nothing.
  EXPECT_EQ(Count(R"(
loops @masked(%x: input f32[10], %y: output f32[10]) {
  phase i < 4 {
    vector l < 8 { if i * 8 + l < 10 { %y[i * 8 + l] = %x[i * 8 + l] } }
  }
})"),
            "0 + 4");
}

TEST(CountInstructions, DotLoops) {
  // In a product of bytes (dot instruction), each lane loads four bytes of %b,
  // and all lanes the same four bytes of %a.
  EXPECT_EQ(Count(R"(
loops @dots(%a: input u8[32], %b: input i8[8, 8, 4], %y: output i32[8]) {
  register %sum: i32[8]
  phase t < 1 {
    vector l < 8 { %sum[l] = 0 }
    for k < 8 {
      vector l < 8 {
        dot q < 4 { %sum[l] += i32(%a[k * 4 + q]) * i32(%b[k, l, q]) }
      }
    }
    vector l < 8 { %y[l] = %sum[l] }
  }
})"),
            "8 + 17");
}

TEST(CountInstructions, WhatIsOfDevices) {
  EXPECT_EQ(Count(R"(
loops @fill(%y: output f32[16, 16]) {
  register %sum: f32[1, 16, 16]
  phase t < 1 {
    subgroup s < 1 {
      matrix m < 16 { matrix n < 16 { %sum[s, m, n] = 0.0 } }
      matrix m < 16 { matrix n < 16 { %y[m, n] = %sum[s, m, n] } }
    }
  }
})"),
            "UNIMPLEMENTED: loops @fill: a loop of devices cannot be counted");
}

}  // namespace
}  // namespace ember::tests
