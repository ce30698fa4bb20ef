// multiply_matrices: the nests that it gives, what they compute, and what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "jit/loops/evaluator.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/primitives_testing.h"
#include "tensor/evaluator.h"
#include "tensor/random_dispatch.h"
#include "tensor/random_values.h"
#include "tensor/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kHalves = R"(
  dispatch @halves(%a: f16[16, 24], %b: f16[24, 16]) -> (%y: f32[16, 16]) {
    %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
  })";
// Two subgroups with two matrices each.
const std::string kSplit =
    "split %y i 8 -> s m\n split %y j 8 -> j0 n\n split %y k 8 -> k0 k1\n"
    "reorder %y k0 s j0 m n k1\n unroll %y j0\n";

// Lowers it, and compares what it computes with the dispatch. The nest's text.
std::string Check(std::string_view text, std::string_view lines) {
  SCOPED_TRACE(lines);
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  if (!dispatch.ok()) return "";
  tensor::RandomCase random;
  random.seed = 1;
  random.dispatch = *std::move(dispatch);
  Schedule schedule(Disassemble(random.dispatch, {}));
  const Status replayed = Replay(lines, schedule);
  EXPECT_TRUE(replayed.ok()) << replayed.ToString();
  auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return "";
  const Status verified = loops::Verify(*nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString() << loops::ToText(*nest);
  auto expected = random.MakeBuffers(), found = random.MakeBuffers();
  EXPECT_TRUE(
      tensor::Evaluate(random.dispatch, {}, tensor::Pointers(expected), {})
          .ok());
  const Status evaluated = loops::Evaluate(*nest, {}, tensor::Pointers(found),
                                           {.refuse_races = true});
  EXPECT_TRUE(evaluated.ok()) << evaluated.ToString();
  EXPECT_EQ(tensor::FirstDifference(random, expected, found), "")
      << loops::ToText(*nest);
  return loops::ToText(*nest);
}

TEST(Matrices, OfWholeTilesInMemory) {
  const std::string lines = kSplit + "multiply_matrices %y s m n k1";
  Check(kHalves, lines);
  ExpectNest(kHalves, lines, R"(
    register %y.part.3: f32[2, 2, 8, 8]
    phase task_6 < 1 {
      subgroup s < 2 {
        unroll j0 < 2 {
          matrix m < 8 { matrix n < 8 { %y.part.3[s, j0, m, n] = 0.0 } }
        }
      }
      for k0 < 3 {
        subgroup s < 2 {
          unroll j0 < 2 {
            matrix m < 8 {
              matrix n < 8 {
                matrix k1 < 8 {
                  let %t0 = k0 * 8 + k1
                  %y.part.3[s, j0, m, n] += f32(%a[s * 8 + m, %t0]) * f32(%b[%t0, j0 * 8 + n])
                }
              }
            }
          }
        }
      }
      subgroup s < 2 {
        unroll j0 < 2 {
          matrix m < 8 {
            matrix n < 8 { %y[s * 8 + m, j0 * 8 + n] = %y.part.3[s, j0, m, n] }
          }
        }
      }
    })");
}

// One loop of subgroups has all of it where the sum stands in it.
TEST(Matrices, SumsInsideOfSubgroups) {
  ExpectNest(kHalves,
             "split %y i 8 -> s m\n split %y j 8 -> j0 n\n"
             "split %y k 8 -> k0 k1\n reorder %y s k0 j0 m n k1\n"
             "unroll %y j0\n multiply_matrices %y s m n k1",
             R"(
    subgroup s < 2 {
      unroll j0 < 2 {
        matrix m < 8 { matrix n < 8 { %y.part.3[s, j0, m, n] = 0.0 } }
      }
      for k0 < 3 {)");
}

// Matrices that do not fill a tile are left out as a whole.
TEST(Matrices, GuardsStandOutsideOfMatrices) {
  const std::string text = Check(R"(
    dispatch @guards(%a: f16[24, 24], %b: f16[24, 8]) -> (%y: f32[24, 8]) {
      %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
    })",
                                 R"(
    split %y i 16 -> i0 rest
    split %y rest 8 -> s m
    split %y j 8 -> j0 n
    split %y k 16 -> k0 steps
    split %y steps 8 -> ks kk
    reorder %y i0 s j0 k0 ks m n kk
    parallel %y i0
    multiply_matrices %y s m n kk)");
  EXPECT_THAT(text, HasSubstr("if i0 * 16 + s * 8 < 24 {"));
  EXPECT_THAT(text, HasSubstr("if k0 * 16 + ks * 8 + 7 < 24 {"));
}

// Odd sizes, what is done with each result, and another type: in memory of the
// task, where there is room for what nobody reads.
constexpr std::string_view kOdd = R"(
  dispatch @odd(%a: f16[13, 21], %b: f16[19, 21], %c: f16[19]) -> (%y: f16[13, 19]) {
    temp %s: f32[13, 19]
    %s[i, j] = sum(k < 21) f32(%a[i, k]) * f32(%b[j, k])
    %y[i, j] = max(f16(%s[i, j]) + %c[j], 0.0)
  })";
const std::string kOddLines = R"(
  pad %s k 8
  tile %y i j 16 16 -> i0 j0 i1 j1
  fuse %y i0 j0 -> tasks
  parallel %y tasks
  compute_at %s %y tasks
  fuse %y i1 j1 -> points
  split %y points 32 -> round item
  bind %y item
  split %s i 8 -> si m
  split %s j 8 -> sj n
  split %s k 8 -> k0 kk
  reorder %s k0 si sj m n kk
  fuse %s si sj -> s
  multiply_matrices %s s m n kk
  cache_read %s %a -> as
  compute_at %as %s k0
  cache_read %s %b -> bs
  compute_at %bs %s k0
)";

TEST(Matrices, InMemoryOfTheTask) {
  std::string text = Check(kOdd, kOddLines);
  EXPECT_THAT(text, HasSubstr("task %s: f32[16, 16]"));
  EXPECT_THAT(text, HasSubstr("task %as: f16[16, 8]"));
  EXPECT_THAT(text, HasSubstr("matrix kk < 8 {"));
  // The factors an iteration ahead.
  text = Check(kOdd, kOddLines + "double_buffer %as\n double_buffer %bs");
  EXPECT_THAT(text, HasSubstr("task %as: f16[2, 16, 8]"));
}

TEST(Matrices, OfBytes) {
  for (const char* types : {"u8 i8", "i8 i8", "u8 u8"}) {
    const std::string a(types, 2), b(types + 3, 2);
    Check("dispatch @bytes(%a: " + a + "[2, 8, 16], %b: " + b +
              "[2, 16, 8]) -> (%y: i32[2, 8, 8]) { %y[n, i, j] = sum(k < 16) "
              "i32(%a[n, i, k]) * i32(%b[n, k, j]) }",
          "split %y i 4 -> s r\n split %y j 8 -> j0 c\n"
          "split %y k 16 -> k0 kk\n reorder %y n s j0 k0 r c kk\n"
          "parallel %y n\n multiply_matrices %y s r c kk");
  }
}

TEST(Matrices, RoundOnTheirWay) {
  Schedule schedule = ScheduleOf(kHalves);
  EXPECT_TRUE(Replay(kSplit, schedule).ok());
  EXPECT_TRUE(KeepsRounding(schedule));
  EXPECT_TRUE(Apply("multiply_matrices %y s m n k1", schedule).ok());
  EXPECT_FALSE(KeepsRounding(schedule));
}

// --- refusals ---

TEST(Matrices, RefusedLoops) {
  const std::string line = "multiply_matrices %y s m n k1";
  const auto without = [](std::string lines, const std::string& part) {
    return lines.erase(lines.find(part), part.size());
  };
  ExpectRefused(kHalves, kSplit, "multiply_matrices %y s n m k1",
                "loop 'm' does not stand right inside loop 'n'");
  ExpectRefused(kHalves, kSplit, "multiply_matrices %y k0 m n k1",
                "loop 'k0' combines elements: subgroups combine none");
  ExpectRefused(kHalves, kSplit + "reorder %y m n k1 s k0 j0\n", line,
                "loop 'm' is not one of the innermost three");
  ExpectRefused(kHalves, kSplit + "reorder %y k1 n m\n",
                "multiply_matrices %y s k1 n m",
                "loop 'k1' combines elements: rows and columns combine none");
  ExpectRefused(kHalves,
                "split %y i 8 -> s m\n split %y j 16 -> s1 n\n reorder %y s s1 "
                "k m n\n",
                "multiply_matrices %y s k m n",
                "loop 'k' combines elements: rows and columns combine none");
  ExpectRefused(kHalves, without(kSplit, " unroll %y j0\n"), line,
                "loop 'j0' is serial, inside a reduction: its matrices are "
                "registers, unroll it");
  ExpectRefused(kHalves, kSplit + "unroll %y n\n", line,
                "loop 'n' is marked already: mark loops last");
  ExpectRefused(kHalves, "split %y i 8 -> s m\n reorder %y s m j k\n",
                "multiply_matrices %y s m j k",
                "loop 'j' is not the inner one of a split into 2 to 256");
  ExpectRefused(kHalves, kSplit + "cache_read %y %a -> x\n compute_at %x %y s",
                line, "%x is computed inside loop 's', which is of subgroups");
  ExpectRefused(kHalves, kSplit + line, "reorder %y k1 m n",
                "loop 'k1' combines elements: rows and columns combine none");
}

TEST(Matrices, RefusedProducts) {
  const std::string split =
      "split %y i 4 -> s m\n split %y j 2 -> j0 n\n split %y k 4 -> k0 k1\n"
      "reorder %y k0 s j0 m n k1\n unroll %y j0\n";
  const std::string line = "multiply_matrices %y s m n k1";
  const auto product = [](const std::string& type, const std::string& value) {
    return "dispatch @p(%a: " + type + "[8, 8], %b: " + type +
           "[8, 8]) -> (%y: f32[8, 8]) { %y[i, j] = " + value + " }";
  };
  ExpectRefused(product("f32", "sum(k < 8) %a[i, k] * %b[k, j]"), split, line,
                "there are no matrices of f32 and f32 in f32");
  ExpectRefused(product("i16", "sum(k < 8) f32(%a[i, k]) * f32(%b[k, j])"),
                split, line, "there are no matrices of i16 and i16 in f32");
  ExpectRefused(product("f16", "sum(k < 8) f32(%a[i, k])"), split, line,
                "the stage is no sum of products");
  ExpectRefused(product("f16", "maximum(k < 8) f32(%a[i, k]) * f32(%b[k, j])"),
                split, line, "the stage is no sum of products");
  ExpectRefused(product("f16", "sum(k < 8) f32(%a[i, k]) * f32(%b[i, k])"),
                split, line,
                "one factor has to move with the rows, the other with the "
                "columns");
  ExpectRefused(product("f16", "sum(k < 8) f32(%a[i, k]) * f32(k)"), split,
                line, "a factor is not a load that is widened");
  // Sums of f16 are sums of f32.
  ExpectRefused(
      "dispatch @p(%a: f16[8, 8], %b: f16[8, 8]) -> (%y: f16[8, 8]) { "
      "%y[i, j] = sum(k < 8) %a[i, k] * %b[k, j] }",
      split, line, "there are no matrices of f16 and f16 in f16");
}

// What depends on where the loops are is left to Lower.
TEST(Matrices, RefusedByLower) {
  const auto error = [](std::string_view dispatch, const std::string& lines) {
    Schedule schedule = ScheduleOf(dispatch);
    const Status replayed = Replay(lines, schedule);
    EXPECT_TRUE(replayed.ok()) << replayed.ToString();
    const Status status = Lower(schedule).status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    return std::string(status.message());
  };
  const std::string line = "multiply_matrices %y s m n k1";
  // A result beyond the end would be stored.
  EXPECT_EQ(error(R"(
    dispatch @odd(%a: f16[15, 24], %b: f16[24, 16]) -> (%y: f32[15, 16]) {
      %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
    })",
                  kSplit + line),
            "phase 0: a matrix loop: expected indices that move evenly with "
            "the loops");
  EXPECT_EQ(error(R"(
    dispatch @lines(%a: f16[16, 28], %b: f16[28, 16]) -> (%y: f32[16, 16]) {
      %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
    })",
                  kSplit + line),
            "phase 0: a matrix loop: expected rows that begin at multiples of "
            "16 bytes, found a proof of 8");
  EXPECT_EQ(error(R"(
    dispatch @large(%a: f16[512, 8], %b: f16[8, 128]) -> (%y: f32[512, 128]) {
      %y[i, j] = sum(k < 8) f32(%a[i, k]) * f32(%b[k, j])
    })",
                  "split %y i 128 -> s i1\n split %y i1 8 -> i2 m\n"
                  "split %y j 8 -> j0 n\n split %y k 8 -> k0 k1\n"
                  "reorder %y k0 s i2 j0 m n k1\n unroll %y j0\n"
                  "unroll %y i2\n" +
                      line),
            "%y: expected at most 4096 elements in matrices of a subgroup, "
            "found 16384");
}

}  // namespace
}  // namespace ember::schedule
