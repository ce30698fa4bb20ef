#include "jit/loops/evaluator.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text.h"

namespace ember::loops {
namespace {

LoopNest ParseOrDie(const std::string& text) {
  StatusOr<LoopNest> nest = Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  return nest.ok() ? std::move(*nest) : LoopNest();
}

std::string ErrorOf(const std::string& text, std::vector<int64_t> parameters,
                    std::vector<void*> buffers) {
  const Status status = Evaluate(ParseOrDie(text), parameters, buffers);
  return status.ok() ? "no error" : std::string(status.message());
}

std::vector<float> Iota(size_t count) {
  std::vector<float> result;
  for (size_t i = 0; i < count; ++i) result.push_back(static_cast<float>(i));
  return result;
}

// 10 elements in steps of 4: the last step is masked.
TEST(EvaluatorTest, SplitLoopWithGuard) {
  std::vector<float> x = Iota(10), y(10, -1);
  EXPECT_EQ(ErrorOf(R"(loops @scale<N>(%x: input f32[N], %y: output f32[N]) {
                         phase i < floordiv(N + 3, 4) {
                           vector l < 4 {
                             if i * 4 + l < N {
                               %y[i * 4 + l] = %x[i * 4 + l] * 3.0
                             }
                           }
                         }
                       })",
                    {10}, {x.data(), y.data()}),
            "no error");
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(y[i], 3 * x[i]);
}

// Each lane adds its number to one of two elements: 0+2+4+6 and 1+3+5+7. The
// plain store keeps one of them.
TEST(EvaluatorTest, UpdatesOfSeveralLanesAllCount) {
  std::vector<int64_t> y = {100, 200};
  std::vector<int64_t> last = {-1};
  EXPECT_EQ(ErrorOf(R"(loops @t(%y: output i64[2], %last: output i64[1]) {
                         phase i < 1 {
                           vector l < 8 {
                             %y[mod(l, 2)] += l
                             %last[0] = l
                           }
                         }
                       })",
                    {}, {y.data(), last.data()}),
            "no error");
  EXPECT_EQ(y, (std::vector<int64_t>{112, 216}));
  EXPECT_GE(last[0], 0);
  EXPECT_LT(last[0], 8);
}

// All lanes read before any writes: a rotation in place.
TEST(EvaluatorTest, LanesReadBeforeTheyWrite) {
  std::vector<int64_t> y = {10, 11, 12, 13};
  EXPECT_EQ(ErrorOf(R"(loops @t(%y: output i64[4]) {
                         phase i < 1 {
                           vector l < 4 { %y[l] = %y[mod(l + 1, 4)] }
                         }
                       })",
                    {}, {y.data()}),
            "no error");
  EXPECT_EQ(y, (std::vector<int64_t>{11, 12, 13, 10}));
}

// The running maximum and its index: both values are computed before either is
// stored, else the index would never change.
TEST(EvaluatorTest, TargetsStoredTogether) {
  std::vector<float> x = {3, 1, 7, 7, 2};
  float maximum = 0;
  int64_t index = 0;
  EXPECT_EQ(
      ErrorOf(
          R"(loops @argmax(%x: input f32[5], %m: output f32[], %i: output i64[]) {
                   phase t < 1 {
                     { %m[] = -inf  %i[] = 0 }
                     for k < 5 {
                       {
                         %m[] = max(%m[], %x[k])
                         %i[] = select(%m[] < %x[k], k, %i[])
                       }
                     }
                   }
                 })",
          {}, {x.data(), &maximum, &index}),
      "no error");
  EXPECT_EQ(maximum, 7);
  EXPECT_EQ(index, 2);
}

// y = x * w for x 4 by 3, w 3 by 4 with w[k, j] = 10 * k + j packed by a
// prologue with its rows reversed; a tile of 2 by 4 is in registers.
TEST(EvaluatorTest, PackedPrologueAndRegisterTile) {
  std::vector<float> x = Iota(12), y(16, -1), w;
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 4; ++j) w.push_back(static_cast<float>(10 * k + j));
  }
  EXPECT_EQ(
      ErrorOf(
          R"(loops @gemm(%x: input f32[4, 3], %w: input f32[3, 4], %y: output f32[4, 4]) {
                   packed %p: f32[3, 4]
                   register %acc: f32[2, 4]
                   prologue k < 3 {
                     for j < 4 { %p[2 - k, j] = %w[k, j] }
                   }
                   phase i < 2 {
                     unroll a < 2 { vector l < 4 { %acc[a, l] = 0 } }
                     for k < 3 {
                       unroll a < 2 {
                         vector l < 4 {
                           %acc[a, l] += %x[i * 2 + a, k] * %p[2 - k, l]
                         }
                       }
                     }
                     unroll a < 2 { vector l < 4 { %y[i * 2 + a, l] = %acc[a, l] } }
                   }
                 })",
          {}, {x.data(), w.data(), y.data()}),
      "no error");
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      float sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += x[i * 3 + k] * w[k * 4 + j];
      EXPECT_EQ(y[i * 4 + j], sum);
    }
  }
}

// Phases see what earlier ones left in call buffers; extents depend on
// variables: row i of the triangle has i + 1 elements.
TEST(EvaluatorTest, PhasesAndTriangularLoops) {
  std::vector<int32_t> y(4, -1);
  EXPECT_EQ(ErrorOf(R"(loops @t<N>(%y: output i32[N]) {
                         call %c: i32[N, N]
                         phase i < N {
                           for j < i + 1 { %c[i, j] = i32(j + 1) }
                           for j < N - i - 1 { %c[i, i + 1 + j] = 0 }
                         }
                         phase i < N {
                           %y[i] = 0
                           for j < N { %y[i] += %c[i, j] }
                         }
                       })",
                    {4}, {y.data()}),
            "no error");
  EXPECT_EQ(y, (std::vector<int32_t>{1, 3, 6, 10}));
}

TEST(EvaluatorTest, PadsAndEveryUpdate) {
  std::vector<int32_t> x = {5, 6, 7};
  std::vector<int32_t> y = {10, 10, 10, 10, 10};
  EXPECT_EQ(ErrorOf(R"(loops @t(%x: input i32[3], %y: output i32[5]) {
                         phase i < 1 {
                           %y[0] = pad(%x[-1], 40)
                           %y[1] += pad(%x[0], 40)
                           %y[2] *= pad(%x[1], 40)
                           %y[3] min= pad(%x[2], 40)
                           %y[4] max= pad(%x[3], 40)
                         }
                       })",
                    {}, {x.data(), y.data()}),
            "no error");
  EXPECT_EQ(y, (std::vector<int32_t>{40, 15, 60, 7, 40}));
}

// Contents of task and register buffers do not come from the task before.
TEST(EvaluatorTest, TaskBuffersStartRandom) {
  std::vector<uint64_t> y(4);
  EXPECT_EQ(ErrorOf(R"(loops @t(%y: output u64[4]) {
                         task %s: u64[1]
                         register %r: u64[1]
                         phase i < 2 {
                           %y[i * 2] = %s[0]
                           %y[i * 2 + 1] = %r[0]
                           %s[0] = 7
                           %r[0] = 7
                         }
                       })",
                    {}, {y.data()}),
            "no error");
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NE(y[i], 7u);
    EXPECT_NE(y[i], y[(i + 1) % 4]);
  }
}

TEST(EvaluatorTest, NoTasksAndNegativeExtents) {
  int64_t y = 5;
  EXPECT_EQ(ErrorOf(R"(loops @t<N>(%y: output i64[]) {
                         phase i < N { %y[] = 1 }
                         phase i < 1 { for j < N { %y[] = 2 } }
                       })",
                    {-3}, {&y}),
            "no error");
  EXPECT_EQ(y, 5);
}

constexpr char kGather[] =
    R"(loops @gather(%x: input f32[3], %k: input i64[4], %y: output f32[4]) {
         phase i < 1 {
           vector l < 4 {
             if 0 < l {
               check %x.0 %k[l] < 3
               %y[l] = %x[%k[l]]
             }
           }
         }
       })";

TEST(EvaluatorTest, ChecksHoldForActiveLanes) {
  std::vector<float> x = {5, 6, 7}, y(4, -1);
  std::vector<int64_t> k = {-100, 2, 0, 1};
  EXPECT_EQ(ErrorOf(kGather, {}, {x.data(), k.data(), y.data()}), "no error");
  EXPECT_EQ(y, (std::vector<float>{-1, 7, 5, 6}));
  k = {0, 1, 3, -1};
  EXPECT_EQ(ErrorOf(kGather, {}, {x.data(), k.data(), y.data()}),
            "loops @gather: buffer %x: expected index 0 in 0..2, found 3");
}

TEST(EvaluatorTest, WhoseErrorItIs) {
  float y = 0;
  void* const buffers[] = {&y};
  const auto code = [&](const std::string& statement) {
    const LoopNest nest = ParseOrDie(
        "loops @t(%y: output f32[1]) { phase i < 1 {" + statement + "}}");
    return Evaluate(nest, {}, buffers).code();
  };
  EXPECT_EQ(code("check %y.0 1 < 1"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("%y[1] = 0"), StatusCode::kInternal);
}

// The last to store to the element stays.
TEST(EvaluatorTest, Backwards) {
  const LoopNest nest = ParseOrDie(
      R"(loops @t(%y: output i64[2]) {
           phase i < 4 { %y[0] = i  vector l < 4 { %y[1] = l } }
         })");
  std::vector<int64_t> y(2);
  void* const buffers[] = {y.data()};
  ASSERT_TRUE(Evaluate(nest, {}, buffers).ok());
  EXPECT_EQ(y, (std::vector<int64_t>{3, 3}));
  ASSERT_TRUE(Evaluate(nest, {}, buffers, {.backwards = true}).ok());
  EXPECT_EQ(y, (std::vector<int64_t>{0, 0}));
}

// The example of docs/devices.md: rows of %x by %w, in tiles that all
// invocations load together, and a sum that each of them keeps.
TEST(EvaluatorTest, Invocations) {
  const LoopNest nest = ParseOrDie(
      R"(loops @product(%x: input f32[3, 8], %w: input f32[8, 4],
                        %y: output f32[3, 4]) {
           task %tile: f32[4]
           register %sum: f32[4]
           phase t < 3 {
             invocation i < 4 { %sum[i] = 0.0 }
             for k0 < 2 {
               invocation i < 4 { %tile[i] = %x[t, k0 * 4 + i] }
               invocation i < 4 {
                 for k1 < 4 { %sum[i] += %tile[k1] * %w[k0 * 4 + k1, i] }
               }
             }
             invocation i < 4 { %y[t, i] = %sum[i] }
           }
         })");
  std::vector<float> x = Iota(24), w = Iota(32), expected(12);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      for (size_t k = 0; k < 8; ++k)
        expected[i * 4 + j] += x[i * 8 + k] * w[k * 4 + j];
    }
  }
  for (const bool backwards : {false, true}) {
    std::vector<float> y(12);
    void* const buffers[] = {x.data(), w.data(), y.data()};
    ASSERT_TRUE(Evaluate(nest, {}, buffers, {.backwards = backwards}).ok());
    EXPECT_EQ(y, expected);
  }
}

// A value of the loop finds nothing of another one in its registers.
TEST(EvaluatorTest, RegistersOfOneInvocationStartRandom) {
  const LoopNest nest = ParseOrDie(
      R"(loops @t(%y: output i64[64]) {
           register %r: i64[1]
           phase t < 1 {
             %r[0] = 0
             invocation i < 64 { %y[i] = %r[0]  %r[0] = 7 }
           }
         })");
  std::vector<int64_t> y(64);
  void* const buffers[] = {y.data()};
  ASSERT_TRUE(Evaluate(nest, {}, buffers).ok());
  EXPECT_EQ(std::count(y.begin(), y.end(), 0), 0);
  EXPECT_EQ(std::count(y.begin(), y.end(), 7), 0);
}

TEST(EvaluatorTest, RacesAreErrorsIfWanted) {
  const auto error = [](const std::string& body) {
    std::vector<int64_t> x(8), y(8);
    void* const buffers[] = {x.data(), y.data()};
    const LoopNest nest = ParseOrDie(
        "loops @t(%x: input i64[8], %y: output i64[8]) { task %s: i64[8] "
        "call %c: i64[8] register %r: i64[1] phase t < 2 {" +
        body + "}}");
    EXPECT_TRUE(Evaluate(nest, {}, buffers).ok());
    const Status status = Evaluate(nest, {}, buffers, {.refuse_races = true});
    return status.ok() ? "" : std::string(status.message());
  };
  EXPECT_EQ(error("%y[t] = 1 invocation i < 4 { %s[i] = 1  %r[0] = %s[i] }"),
            "");
  EXPECT_EQ(error("%s[0] = 1 invocation i < 4 { %y[t * 4 + i] = %s[0] } "
                  "%s[0] = 2"),
            "");
  const std::string tasks =
      "loops @t: buffer %y: element 0 is accessed by tasks 1 and 0 at once, "
      "and stored to";
  EXPECT_EQ(error("%y[0] = t"), tasks);
  EXPECT_EQ(error("if t < 1 { %y[0] = 1 } %s[0] = %y[0]"), tasks);
  EXPECT_EQ(error("%s[0] = %y[0] if 0 < t { %y[0] = 1 }"), tasks);
  const std::string invocations =
      "loops @t: buffer %s: element 3 is accessed by invocations ";
  EXPECT_EQ(error("invocation i < 2 { %s[3] = i }"),
            invocations + "1 and 0 at once, and stored to");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %s[3] += i }"), "");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %y[t * 4 + i] = %s[3] "
                  "if 1 < i { %s[3] = 1 } }"),
            invocations + "2 and 0 at once, and stored to");
  EXPECT_EQ(error("%s[3] = 1 invocation i < 3 { %y[t * 4 + i] = %s[3] "
                  "if i < 1 { %s[3] = 1 } }"),
            invocations + "1 and 0 at once, and stored to");
}

TEST(EvaluatorTest, AccessesOutOfBoundsAreErrors) {
  std::vector<float> x(6), y(6);
  const auto error = [&](const std::string& store) {
    return ErrorOf(
        "loops @t(%x: input f32[2, 3], %y: output f32[6]) { phase i < 1 {" +
            store + "}}",
        {}, {x.data(), y.data()});
  };
  EXPECT_EQ(error("%y[6] = 0"),
            "loops @t: buffer %y: expected index 0 in 0..5, found 6");
  EXPECT_EQ(error("%y[i - 1] += 0"),
            "loops @t: buffer %y: expected index 0 in 0..5, found -1");
  EXPECT_EQ(error("%y[0] = %x[0, 3]"),
            "loops @t: buffer %x: expected index 1 in 0..2, found 3");
  EXPECT_EQ(error("%y[0] = select(false, %x[2, 0], 1)"),
            "loops @t: buffer %x: expected index 0 in 0..1, found 2");
}

TEST(EvaluatorTest, WrongArgumentsAreErrors) {
  const char* text = "loops @t<N>(%y: output f32[N - 1]) { call %c: f32[N] }";
  float y = 0;
  EXPECT_EQ(ErrorOf(text, {}, {&y}),
            "loops @t: expected 1 parameters, found 0");
  EXPECT_EQ(ErrorOf(text, {2}, {}), "loops @t: expected 1 buffers, found 0");
  EXPECT_EQ(ErrorOf(text, {0}, {&y}),
            "loops @t: buffer %y: expected extents in 0..1099511627776 and a "
            "size of 63 bits, found extent 0 of -1");
  EXPECT_EQ(ErrorOf(text, {int64_t{1} << 38}, {&y}),
            "loops @t: buffer %c of 1099511627776 bytes");
}

}  // namespace
}  // namespace ember::loops
