// Tests that the evaluator finds errors, and code that relies on memory that
// was never stored to. The values that it computes are tested in
// tests/cases/definitions, which every executor shares.
#include "jit/loops/evaluator/evaluator.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"

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

// A task buffer and a register buffer do not keep their contents from one task
// to the next.
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

// If several lanes store to one element, the last store wins. If lanes run
// backwards, that is the store of the first lane.
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

// Registers of an invocation do not hold what another value of the invocation
// loop stored to them.
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
