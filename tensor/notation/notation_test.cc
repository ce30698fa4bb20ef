#include "tensor/notation/notation.h"

#include <cmath>
#include <iterator>
#include <random>
#include <string>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

StatusOr<Dispatch> ParseAlone(std::string_view text) {
  return ParseNotation(text, {}, "");
}

std::string Printed(std::string_view text) {
  const auto dispatch = ParseAlone(text);
  return dispatch.ok() ? Print(*dispatch) : dispatch.status().ToString();
}

std::string Message(std::string_view text) {
  const auto dispatch = ParseAlone(text);
  return dispatch.ok() ? "no error" : std::string(dispatch.status().message());
}

struct Example {
  std::string_view text, dispatch;
};

TEST(NotationTest, MakesDispatches) {
  const Example examples[] = {
      {"a: f32[4, 8] b: f32[8, 3] y[i, j] = sum(k) a[i, k] * b[k, j]",
       "dispatch @y(%a: f32[4, 8], %b: f32[8, 3]) -> (%y: f32[4, 3]) {\n"
       "  %y[i, j] = sum(k < 8) %a[i, k] * %b[k, j]\n"
       "}\n"},
      // A name in place of an extent is a parameter.
      {"x: f32[N] y[i] = 2 * x[i]",
       "dispatch @y<N>(%x: f32[N]) -> (%y: f32[N]) {\n"
       "  %y[i] = 2.0 * %x[i]\n"
       "}\n"},
      // The extent of i is not written: it follows from the dim of x and from
      // the extent of r.
      {"x: f32[10] w: f32[3] y[i] = sum(r) x[2 * i + r] * w[r]",
       "dispatch @y(%x: f32[10], %w: f32[3]) -> (%y: f32[4]) {\n"
       "  %y[i] = sum(r < 3) %x[2 * i + r] * %w[r]\n"
       "}\n"},
      // Each of the two reductions is only a part of the right side, so it
      // becomes a temporary; both name their axis k.
      {"x: f32[5] y[i] = exp(x[i] - maximum(k) x[k]) / sum(k) exp(x[k])",
       "dispatch @y(%x: f32[5]) -> (%y: f32[5]) {\n"
       "  temp %y_maximum: f32[]\n"
       "  temp %y_sum: f32[]\n"
       "  %y_maximum[] = maximum(k < 5) %x[k]\n"
       "  %y_sum[] = sum(k.1 < 5) exp(%x[k.1])\n"
       "  %y[i] = exp(%x[i] - %y_maximum[]) / %y_sum[]\n"
       "}\n"},
      // The indices of a gather and of a scatter are i32 and must be converted
      // to i64.
      {"t: f32[9, 2] n: i32[3] y[i, j] = t[n[i], j]\n"
       "z[i < 9, j < 2] = 0.0; z[n[i], j] += y[i, j] -> y, z",
       "dispatch @y(%t: f32[9, 2], %n: i32[3]) -> (%y: f32[3, 2], %z: f32[9, "
       "2]) {\n"
       "  %y[i, j] = %t[i64(%n[i]), j]\n"
       "  %z[i, j] = 0.0\n"
       "  for (i < 3, j < 2) %z[i64(%n[i]), j] += %y[i, j]\n"
       "}\n"},
      {"x: i8[4] y[i < 6] = -i32(pad(x[i - 1]))",
       "dispatch @y(%x: i8[4]) -> (%y: i32[6]) {\n"
       "  %y[i] = neg(i32(pad(%x[i - 1], 0)))\n"
       "}\n"},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.text);
    EXPECT_EQ(Printed(example.text), example.dispatch);
  }
}

TEST(NotationTest, TakesInputsFromOutside) {
  const NotationInput inputs[] = {{"a", DType::kF64, {{3, ""}, {0, "K"}}}};
  const auto dispatch = ParseNotation("y[i] = sum(k) a[i, k]", inputs, "rows");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  EXPECT_EQ(Print(*dispatch),
            "dispatch @rows<K>(%a: f64[3, K]) -> (%y: f64[3]) {\n"
            "  %y[i] = sum(k < K) %a[i, k]\n"
            "}\n");
  EXPECT_FALSE(ParseNotation("y[] = 1", {{{"a b", DType::kF32, {}}}}, "").ok());
  EXPECT_FALSE(ParseNotation("y[] = 1", {}, "a b").ok());
}

TEST(NotationTest, SaysWhatIsWrong) {
  const Example examples[] = {
      {"a: f32[4, 8] b: f32[9, 3]\ny[i, j] = sum(k) a[i, k] * b[k, j]",
       "2:28: expected one extent of the axis k, found 8 (dim 1 of a) and 9 "
       "(dim 0 of b)"},
      {"a: f32[4] y[i] = a[i] * c[i]",
       "1:25: expected a tensor that is declared, as in c: f32[4], or defined "
       "before, found 'c'"},
      {"a: f32[4, 4] y[i] = a[i, k]",
       "1:26: expected an axis of y or of a reduction, as in sum(k), found "
       "'k'"},
      {"a: f32[4, 4] y[i] = a[i]", "1:21: expected 2 indices of a, found 1"},
      {"a: f32[4] y[i] = pad(a[i - 1])",
       "1:13: expected an index outside of pads from which the extent of the "
       "axis i follows, found none; write i < EXTENT"},
      {"a: f32[4] y[i < 4] = a[i - 1]",
       "1:22: expected an index of dim 0 of a from 0 to 3, found -1 to 2; "
       "write pad(...) for elements outside"},
      {"a: f32[4] y[] = max(k) a[k]",
       "1:17: expected two operands of max, found one; the reduction is "
       "maximum(k)"},
      {"a: f32[4] b: i32[4] y[i] = a[i] + b[i]",
       "1:35: expected a value of type f32, found i32"},
      {"a: f32[4] y[i] = a[i] * ",
       "1:25: expected an expression, found the "
       "end of the text"},
      {"a: f32[4] y[i] += a[i]",
       "1:16: expected '=', because y has no values to update yet, found "
       "'+='"},
      {"a: f32[4] y[i, i] = a[i]",
       "1:16: expected a new axis, found 'i' again"},
      {"a: f32[4] a[i] = 1.0",
       "1:11: expected a new tensor or a result, found the input 'a'"},
      {"a: f32[4] y[i] = a[i] y[i] += y[i]",
       "1:31: expected tensors of earlier statements, found y itself; write "
       "y[...] += ... to add to it"},
      {"x: f32[3] w: f32[5] y[i] = sum(r) x[i + r] * w[r]",
       "1:23: expected values of the axis i for which the index is in bounds, "
       "found none; dim 0 of x is 3"},
      {"y = 3",
       "1:3: expected '[' or ':' behind 'y' (a scalar is written "
       "y[]), found '='"},
      {"",
       "1:1: expected a statement, as in y[i] = 2 * x[i], found the end of "
       "the text"},
      {"y[i < N] = 1.0",
       "1:7: expected a number or a dim of an input as the extent, found 'N'"},
      {"x: f32[4] y[i] = x[i] -> z",
       "1:26: expected a tensor that a statement defines, found 'z'"},
      {"x: f32[-1] y[i] = x[i]",
       "1:8: expected dims from 0 to 1099511627776, found -1"},
  };
  for (const Example& example : examples) {
    SCOPED_TRACE(example.text);
    EXPECT_EQ(Message(example.text), example.dispatch);
  }
}

TEST(NotationTest, LimitsDepth) {
  for (const std::string_view part : {"-", "(", "sum(k < 2) ", "x[", "1 + ("}) {
    std::string text = "x: i64[4] y[] = ";
    for (int i = 0; i < 100'000; ++i) text += part;
    EXPECT_FALSE(ParseAlone(text).ok()) << part;
  }
  std::string text = "y[] = 1";
  for (int i = 0; i < 100'000; ++i) text += " + 1";
  EXPECT_FALSE(ParseAlone(text).ok());
  text.clear();
  for (int i = 0; i < 2000; ++i) text += "x" + std::to_string(i) + "[] = 1;";
  EXPECT_FALSE(ParseAlone(text).ok());
}

// Evaluates the dispatch that the notation gives, and compares its results with
// the formula's.
TEST(NotationTest, ComputesASoftmaxOfAProduct) {
  const auto dispatch =
      ParseAlone("a: f32[2, 2] y[i, j] = exp(a[i, j]) / sum(k) exp(a[i, k])");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  float a[] = {0, 0, 0, 1}, y[4] = {};
  void* const buffers[] = {a, y};
  ASSERT_TRUE(Evaluate(*dispatch, {}, buffers, {}).ok());
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_FLOAT_EQ(y[2], 1 / (1 + std::exp(1.0f)));
}

// Parses texts with deletions, changes and insertions. Each must give an error,
// or a dispatch whose printed text parses.
TEST(NotationTest, SurvivesDamagedTexts) {
  constexpr std::string_view kTexts[] = {
      "a: f32[4, K] b: f32[K, 3] y[i, j] = sum(k) a[i, k] * b[k, j] -> y",
      "x: f32[N, 10] w: f32[3] y[n, i] = sum(r) x[n, 2 * i + r] * w[r]",
      "t: f32[9, 2] n: i32[3] y[i, j] = t[n[i], j]; z[i < 9] = 0; "
      "z[n[i]] += i64(y[i, 0])",
      "x: f16[5] y[i] = exp(x[i] - maximum(k) x[k]) / sum(k, l < 2) exp(x[k])",
      "x: u8[4] y[i < 6] = select(0 < pad(x[i - 1], 3), -1.5, nan:f32)",
  };
  constexpr std::string_view kPieces[] = {"[",
                                          "]",
                                          "(",
                                          ")",
                                          "sum(k)",
                                          "i",
                                          "k",
                                          "x",
                                          "<",
                                          "=",
                                          "+=",
                                          "-",
                                          "*",
                                          ",",
                                          "9223372036854775807",
                                          "0",
                                          "-1",
                                          ".5",
                                          "%",
                                          "->",
                                          ";",
                                          ":",
                                          "f32",
                                          "pad(",
                                          "x[",
                                          "y[i]",
                                          "\x80",
                                          "\n",
                                          "1099511627776",
                                          "N",
                                          "\"",
                                          "bits("};
  const SeedRange seeds = TestSeeds(3000);
  int parsed = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//tensor/notation:notation_test"));
    std::mt19937_64 random(seed);
    std::string text(kTexts[random() % std::size(kTexts)]);
    for (uint64_t i = random() % 3 + 1; i > 0; --i) {
      const size_t at = random() % (text.size() + 1);
      const size_t length = random() % 6;
      const std::string_view piece = kPieces[random() % std::size(kPieces)];
      switch (random() % 3) {
        case 0:
          text.insert(at, piece);
          break;
        case 1:
          text.erase(at, length);
          break;
        default:
          text.replace(at, length, piece);
      }
    }
    SCOPED_TRACE(text);
    const auto dispatch = ParseAlone(text);
    if (!dispatch.ok()) {
      EXPECT_EQ(dispatch.status().code(), StatusCode::kInvalidArgument);
      continue;
    }
    ++parsed;
    const auto again = Parse(Print(*dispatch));
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(*again, *dispatch);
  }
  if (!seeds.is_replay) {
    EXPECT_GT(parsed, 100);
  }
}

}  // namespace
}  // namespace ember::tensor
