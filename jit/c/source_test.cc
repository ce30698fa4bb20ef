// Tests the C that is printed for nests: its text, files with several nests,
// and nests that are declined. //tests/nests:conformance_test and //tests/cases
// test its results.
#include "jit/c/source.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/c/prelude.h"
#include "jit/loops/text/text.h"

namespace ember::jit::c {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

loops::LoopNest Parsed(const std::string& text) {
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  return nest.ok() ? *std::move(nest) : loops::LoopNest();
}

Source SourceOf(const std::string& text) {
  StatusOr<Source> source = EmitSource(Parsed(text));
  EXPECT_TRUE(source.ok()) << source.status().message();
  return source.ok() ? *std::move(source) : Source();
}

// Returns the text after the heading of the first function, to the end of the
// source.
std::string BodyOf(const Source& source) {
  return source.functions.substr(source.functions.find("  const"));
}

TEST(CSource, IsReadable) {
  EXPECT_EQ(BodyOf(SourceOf(R"(
loops @scale<N>(%x: input f32[N, 8], %s: input f32[N], %y: output f32[N, 8]) {
  register %sum: f32[4]
  phase i < N {
    unroll j < 4 { %sum[j] = %x[i, j] * %s[i] }
    for j < 4 { %y[i, 7 - j] = max(%sum[0], 0.0) }
  }
})")),
            R"(  const float *b0_x = (const float *)buffers[0];
  const float *b1_s = (const float *)buffers[1];
  float b3_sum[4];
  float *b2_y = (float *)buffers[2];
  for (int64_t i0_i = begin; i0_i < end; ++i0_i) {
    for (int32_t i1_j = 0; i1_j < 4; ++i1_j) {
      const float v1 = b0_x[(size_t)i0_i * 8 + (size_t)i1_j];
      const float v2 = b1_s[(size_t)i0_i];
      const float v3 = v1 * v2;
      b3_sum[(size_t)i1_j] = v3;
    }
    for (int32_t i1_j = 0; i1_j < 4; ++i1_j) {
      const float v4 = b3_sum[0];
      const uint8_t v5 = v4 < 0x0p+0f;
      const float v6 = v5 ? 0x0p+0f : v4;
      b2_y[(size_t)i0_i * 8 + 7 - (size_t)i1_j] = v6;
    }
  }
  return 0;
}
)");
}

// Shows that i64 values that fit 32 bits are computed in 32 bits, because small
// processors have no 64-bit arithmetic.
TEST(CSource, ComputesIn32BitsWhatFits) {
  EXPECT_THAT(SourceOf(R"(
loops @small(%x: input f32[6], %y: output f32[4, 6]) {
  phase i < 4 {
    for j < 6 { %y[i, j] = pad(%x[floordiv(i * 3 + j, 2) - 1], 0.0) }
  }
})")
                  .functions,
              Not(HasSubstr("int64_t v")));
}

// Shows that a vector loop becomes loops over its lanes. A value that all lanes
// share is loaded once. Values that are stored only after all lanes have loaded
// are kept in an array.
TEST(CSource, LanesAreLoops) {
  const std::string functions = SourceOf(R"(
loops @lanes(%x: input f32[8], %s: input f32[1], %y: output f32[8]) {
  phase t < 1 {
    vector l < 8 {
      if l < 5 { %y[l] = %x[l] * %s[0] }
    }
  }
})")
                                    .functions;
  EXPECT_THAT(functions, HasSubstr(R"(
    uint8_t v1[8] = {0};
    uint8_t v2 = 0;
    for (int32_t i1_l = 0; i1_l < 8; ++i1_l) {
      const uint8_t v3 = i1_l < 5;
      v1[i1_l] = v3;
      v2 |= v1[i1_l];
    }
    if (v2) {
      float v4[8];
      const float v6 = b1_s[0];
      for (int32_t i1_l = 0; i1_l < 8; ++i1_l) {
        if (v1[i1_l]) {
          const float v5 = b0_x[(size_t)i1_l];
          const float v7 = v5 * v6;
          v4[i1_l] = v7;
        }
      }
      for (int32_t i1_l = 0; i1_l < 8; ++i1_l) {
        if (v1[i1_l]) {
          b2_y[(size_t)i1_l] = v4[i1_l];
        }
      }
    }
)"));
}

TEST(CSource, NamesAreOfTheNest) {
  const char kText[] =
      "loops @a.b$c(%x: input f32[4], %y: output f32[4]) {\n"
      "  packed %p: f32[4]\n"
      "  prologue i < 4 { %p[i] = %x[i] + ONE }\n"
      "  phase i < 4 { %y[i] = %p[i] }\n"
      "  phase i < 4 { %y[i] += 1.0 }\n"
      "}";
  const auto with = [&](const std::string& number) {
    std::string text = kText;
    return SourceOf(text.replace(text.find("ONE"), 3, number));
  };
  const Source one = with("1.0"), same = with("1.0"), other = with("2.0");
  ASSERT_EQ(one.prologue.size(), 1u);
  ASSERT_EQ(one.phases.size(), 2u);
  EXPECT_THAT(one.phases[0], StartsWith("ember_a_b_c_"));
  EXPECT_THAT(one.functions,
              HasSubstr("int32_t " + one.phases[1] + "(const int64_t *"));
  EXPECT_EQ(one.functions, same.functions);
  EXPECT_NE(one.prologue[0], other.prologue[0]);
  EXPECT_NE(one.phases[0], other.phases[0]);
}

TEST(CSource, FilesHaveWhatTheyUse) {
  const std::string plain = CompleteFile("int f(void) { return 1; }\n");
  EXPECT_THAT(plain, StartsWith("/* Written by Ember."));
  EXPECT_THAT(plain, HasSubstr("\n\nint f(void) { return 1; }\n"));
  EXPECT_THAT(plain, Not(HasSubstr("ember_f32_of_u32")));
  EXPECT_THAT(CompleteFile("x = ember_f32_of_u32(1);"),
              HasSubstr("static inline float ember_f32_of_u32(uint32_t"));
}

TEST(CSource, DeclinesRemaindersOfFloats) {
  const Status status =
      EmitSource(
          Parsed("loops @f(%x: input f32[4], %y: output f32[4]) { phase i < 4 "
                 "{ %y[i] = mod(%x[i], 3.0) } }"))
          .status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("loops @f: float-remainder: "));
}

TEST(CSource, DeclinesWhatIsTooLarge) {
  std::string text = "loops @f(%y: output f32[4]) { phase i < 4 {\n";
  for (int i = 0; i < 31000; ++i) text += "%y[i] = 1.0\n";
  const Status status = EmitSource(Parsed(text + "} }")).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("loops @f: too-large: "));
}

}  // namespace
}  // namespace ember::jit::c
