// Compares operators on stored integers with their formulas in TensorFlow
// Lite's public sources, which are repeated here in plain C++: the reference
// kernel's formula, or the table of 256 entries if the usual kernel for 8 bits
// has one. Results must be equal bit for bit, or within one step if they depend
// on a sum of floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

#include "tests/tflite/fixed_point_definition.h"
#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using schema::BuiltinOptions;

constexpr int kRounds = 12;
constexpr size_t kCount = 256;

struct Quantized {
  DType type;
  Scale scale;
  std::vector<double> values;

  int32_t Centered(size_t i) const {
    return static_cast<int32_t>(values[i]) -
           static_cast<int32_t>(scale.zero_point);
  }
};

int LowestOf(DType type) {
  return type == DType::kI8 ? -128 : type == DType::kU8 ? 0 : -32768;
}
int HighestOf(DType type) {
  return type == DType::kI8 ? 127 : type == DType::kU8 ? 255 : 32767;
}

// Draws random stored integers with a random scale and, for 8 bits, a random
// zero point.
class Draw {
 public:
  Scale ScaleOf(DType type, double low = 0.005, double high = 0.5) {
    const double middle = (LowestOf(type) + HighestOf(type) + 1) / 2.0;
    const double zero =
        type == DType::kI16 ? 0 : middle + random_.Integers(1, -40, 40)[0];
    return {random_.Scale(low, high), static_cast<int64_t>(zero)};
  }
  Quantized Of(DType type, size_t count = kCount) {
    return {type, ScaleOf(type),
            random_.Integers(count, LowestOf(type), HighestOf(type))};
  }

 private:
  RandomOperands random_;
};

Numbers NumbersOf(const Quantized& x, std::vector<int64_t> dims) {
  return {x.type, std::move(dims), x.values};
}

// Expects results that differ from the formula's by at most a number of steps.
void ExpectWithin(const StatusOr<std::vector<Numbers>>& results,
                  const std::vector<double>& expected, double steps) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ((*results)[0].values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR((*results)[0].values[i], expected[i], steps) << i;
}

// The formula of an operator with one operand, on stored integers. Its argument
// is the operand minus the operand's zero point; it returns the result minus
// the result's zero point.
using UnaryFormula =
    std::function<int32_t(int32_t centered, Scale in, Scale out)>;

void CheckUnary(Code code, DType type, const UnaryFormula& formula,
                const std::function<void(OneOperator&)>& options = {},
                bool is_positive = false) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    Quantized x = draw.Of(type);
    if (is_positive) x.scale.zero_point = LowestOf(type);
    const Scale out = draw.ScaleOf(type);
    OneOperator op(code);
    op.Input(NumbersOf(x, {kCount}), x.scale).Output(type, {kCount}, out);
    if (options) options(op);
    std::vector<double> expected;
    for (size_t i = 0; i < kCount; ++i) {
      expected.push_back(Clamped(
          int64_t{formula(x.Centered(i), x.scale, out)} + out.zero_point,
          type));
    }
    ExpectWithin(op.Run(), expected, 0);
  }
}

using BinaryFormula =
    std::function<int32_t(int32_t a, Scale sa, int32_t b, Scale sb, Scale out)>;

void CheckBinary(Code code, DType type, const BinaryFormula& formula) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Quantized a = draw.Of(type), b = draw.Of(type);
    const Scale out = draw.ScaleOf(type);
    OneOperator op(code);
    op.Input(NumbersOf(a, {kCount}), a.scale)
        .Input(NumbersOf(b, {kCount}), b.scale)
        .Output(type, {kCount}, out);
    std::vector<double> expected;
    for (size_t i = 0; i < kCount; ++i) {
      expected.push_back(Clamped(int64_t{formula(a.Centered(i), a.scale,
                                                 b.Centered(i), b.scale, out)} +
                                     out.zero_point,
                                 type));
    }
    ExpectWithin(op.Run(), expected, 0);
  }
}

constexpr DType kNarrow[] = {DType::kI8, DType::kU8};

TEST(Formulas, Sums) {
  for (const bool adds : {true, false}) {
    for (const DType type : {DType::kI8, DType::kU8, DType::kI16}) {
      const int bits = type == DType::kI16 ? 15 : 20;
      CheckBinary(adds ? Code::ADD : Code::SUB, type,
                  [&](int32_t a, Scale sa, int32_t b, Scale sb, Scale out) {
                    const double twice =
                        2 * std::max(double{sa.scale}, double{sb.scale});
                    const int32_t left =
                        Scaled(a * (1 << bits), double{sa.scale} / twice);
                    const int32_t right =
                        Scaled(b * (1 << bits), double{sb.scale} / twice);
                    return Scaled(adds ? left + right : left - right,
                                  twice / ((1 << bits) * double{out.scale}));
                  });
    }
  }
}

TEST(Formulas, Products) {
  for (const DType type : {DType::kI8, DType::kU8, DType::kI16}) {
    CheckBinary(Code::MUL, type,
                [](int32_t a, Scale sa, int32_t b, Scale sb, Scale out) {
                  const float scale = sa.scale * sb.scale / out.scale;
                  return Scaled(a * b, double{scale});
                });
  }
}

TEST(Formulas, SquaredDifferences) {
  CheckBinary(
      Code::SQUARED_DIFFERENCE, DType::kI8,
      [](int32_t a, Scale sa, int32_t b, Scale sb, Scale out) {
        const double twice = 2 * std::max(double{sa.scale}, double{sb.scale});
        const int32_t difference = Scaled(a * 128, double{sa.scale} / twice) -
                                   Scaled(b * 128, double{sb.scale} / twice);
        const float below = static_cast<float>(1 << 14) * out.scale;
        return Scaled(difference * difference, twice * twice / double{below});
      });
}

TEST(Formulas, Slopes) {
  for (const DType type : kNarrow) {
    CheckBinary(Code::PRELU, type,
                [](int32_t a, Scale sa, int32_t b, Scale sb, Scale out) {
                  const float same = sa.scale / out.scale;
                  const float sloped = sa.scale * sb.scale / out.scale;
                  return a >= 0 ? Scaled(a, double{same})
                                : Scaled(a * b, double{sloped});
                });
    CheckUnary(
        Code::LEAKY_RELU, type,
        [](int32_t x, Scale in, Scale out) {
          const float same = in.scale / out.scale;
          const float sloped = in.scale * 0.3f / out.scale;
          return Scaled(x, double{x >= 0 ? same : sloped});
        },
        [](OneOperator& op) {
          op.Options(BuiltinOptions::LeakyReluOptions,
                     schema::CreateLeakyReluOptions(op.fbb(), 0.3f));
        });
  }
}

TEST(Formulas, Requantized) {
  for (const DType type : {DType::kI8, DType::kU8, DType::kI16}) {
    CheckUnary(Code::QUANTIZE, type, [](int32_t x, Scale in, Scale out) {
      return Scaled(x, double{in.scale} / double{out.scale});
    });
  }
  for (const DType type : {DType::kI8, DType::kI16}) {
    CheckUnary(Code::ABS, type, [](int32_t x, Scale in, Scale out) {
      return Scaled(std::abs(x), double{in.scale / out.scale});
    });
  }
}

// Computes 1 / sqrt(x) by Newton's method, on numbers with 3 bits before the
// point.
int32_t InverseRoot(int32_t x, int& left_shift) {
  if (x <= 1) {
    left_shift = 0;
    return INT32_MAX;
  }
  int right_shift = 11;
  while (x >= 1 << 29) {
    x /= 4;
    ++right_shift;
  }
  const int pairs = (__builtin_clz(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  right_shift -= pairs;
  x <<= 2 * pairs;
  const auto shifted = [](int32_t value, int bits) {
    return static_cast<int32_t>(std::clamp<int64_t>(
        int64_t{value} * (int64_t{1} << bits), INT32_MIN, INT32_MAX));
  };
  const int32_t number = x >> 1;
  const int32_t half = RoundingDivide(number, 1);
  int32_t guess = 1 << 28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = shifted(
        DoublingHighProduct(DoublingHighProduct(guess, guess), guess), 6);
    guess = shifted(DoublingHighProduct((1 << 28) + (1 << 27), guess) -
                        DoublingHighProduct(half, cube),
                    3);
  }
  guess = DoublingHighProduct(guess, 1518500250);
  if (right_shift < 0) {
    guess <<= -right_shift;
    right_shift = 0;
  }
  left_shift = -right_shift;
  return guess;
}

int32_t ScaledBy(int32_t x, int32_t multiplier, int left_shift) {
  return RoundingDivide(
      DoublingHighProduct(x * (1 << std::max(left_shift, 0)), multiplier),
      std::max(-left_shift, 0));
}

TEST(Formulas, InverseRoots) {
  CheckUnary(
      Code::RSQRT, DType::kI8,
      [](int32_t x, Scale in, Scale out) {
        // For 0 there is no inverse root; the formula gives a number beyond the
        // range of the type.
        if (x == 0) return 1 << 20;
        int shift = 0, root_shift = 0;
        const int32_t root = InverseRoot(x, root_shift);
        const double scale = 1.0 / double{std::sqrt(in.scale) * out.scale};
        const auto multiplier = static_cast<int32_t>(
            std::round(std::frexp(scale, &shift) * 2147483648.0));
        return ScaledBy(ScaledBy(1, root, root_shift + 20), multiplier,
                        shift - 20);
      },
      {}, /*is_positive=*/true);
}

TEST(Formulas, Comparisons) {
  const std::pair<Code, bool (*)(int32_t, int32_t)> cases[] = {
      {Code::LESS, [](int32_t a, int32_t b) { return a < b; }},
      {Code::LESS_EQUAL, [](int32_t a, int32_t b) { return a <= b; }},
      {Code::GREATER, [](int32_t a, int32_t b) { return a > b; }},
      {Code::GREATER_EQUAL, [](int32_t a, int32_t b) { return a >= b; }},
      {Code::EQUAL, [](int32_t a, int32_t b) { return a == b; }},
      {Code::NOT_EQUAL, [](int32_t a, int32_t b) { return a != b; }},
  };
  Draw draw;
  for (const auto& [code, compare] : cases) {
    for (const DType type : kNarrow) {
      const Quantized a = draw.Of(type), b = draw.Of(type);
      OneOperator op(code);
      op.Input(NumbersOf(a, {kCount}), a.scale)
          .Input(NumbersOf(b, {kCount}), b.scale)
          .Output(DType::kBool, {kCount});
      std::vector<double> expected;
      for (size_t i = 0; i < kCount; ++i) {
        const int32_t left = Scaled(a.Centered(i) * 256, double{a.scale.scale});
        const int32_t right =
            Scaled(b.Centered(i) * 256, double{b.scale.scale});
        expected.push_back(compare(left, right) ? 1 : 0);
      }
      ExpectWithin(op.Run(), expected, 0);
    }
  }
}

// Tests SUM and MEAN of [1, 5, 7, 3] along the dims 1 and 2.
TEST(Formulas, SumsAndMeansOfDims) {
  constexpr size_t kPositions = 35, kChannels = 3;
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    for (const DType type : {DType::kI8, DType::kU8, DType::kI16}) {
      for (const bool is_mean : {false, true}) {
        const Quantized x = draw.Of(type, kPositions * kChannels);
        const Scale out = draw.ScaleOf(type);
        OneOperator op(is_mean ? Code::MEAN : Code::SUM);
        op.Input(NumbersOf(x, {1, 5, 7, kChannels}), x.scale);
        op.Constant(I32({2}, {1, 2})).Output(type, {1, kChannels}, out);
        op.Options(BuiltinOptions::ReducerOptions,
                   schema::CreateReducerOptions(op.fbb(), false));
        std::vector<double> expected;
        for (size_t channel = 0; channel < kChannels; ++channel) {
          int32_t sum = 0;
          for (size_t i = 0; i < kPositions; ++i)
            sum += x.Centered(i * kChannels + channel);
          int shift = 0;
          auto multiplier = static_cast<int64_t>(std::round(
              std::frexp(double{x.scale.scale} / double{out.scale}, &shift) *
              2147483648.0));
          if (is_mean) {
            const int bits = std::min(5, 31 + shift);  // of 35
            multiplier =
                (multiplier << bits) / static_cast<int64_t>(kPositions);
            shift -= bits;
          }
          expected.push_back(Clamped(
              int64_t{ScaledBy(sum, static_cast<int32_t>(multiplier), shift)} +
                  out.zero_point,
              type));
        }
        ExpectWithin(op.Run(), expected, 0);
      }
    }
  }
}

// Positions in the image are fixed-point numbers with 10 binary places, as in
// the reference kernel.
TEST(Formulas, ResizeBilinear) {
  constexpr int kRows = 4, kColumns = 5, kTo[] = {7, 3};
  Draw draw;
  for (const auto& [corners, centers] :
       {std::pair(false, false), {true, false}, {false, true}}) {
    const Quantized x = draw.Of(DType::kI8, kRows * kColumns);
    OneOperator op(Code::RESIZE_BILINEAR);
    op.Input(NumbersOf(x, {1, kRows, kColumns, 1}), x.scale);
    op.Constant(I32({2}, {kTo[0], kTo[1]}))
        .Output(DType::kI8, {1, kTo[0], kTo[1], 1}, x.scale);
    op.Options(BuiltinOptions::ResizeBilinearOptions,
               schema::CreateResizeBilinearOptions(op.fbb(), corners, centers));
    struct Sample {
      int32_t at, lower, upper;
    };
    const auto sample_of = [&](int i, int from, int to) {
      const int32_t scale = corners
                                ? (1024 * (from - 1) + (to - 1) / 2) / (to - 1)
                                : (1024 * from + to / 2) / to;
      const int32_t at = centers ? i * scale + scale / 2 - 512 : i * scale;
      return Sample{at, std::max(at / 1024, 0),
                    std::min((at + 1023) / 1024, from - 1)};
    };
    std::vector<double> expected;
    for (int r = 0; r < kTo[0]; ++r) {
      for (int c = 0; c < kTo[1]; ++c) {
        const Sample row = sample_of(r, kRows, kTo[0]);
        const Sample column = sample_of(c, kColumns, kTo[1]);
        const auto value = [&](int y, int at) {
          return static_cast<int64_t>(
              x.values[static_cast<size_t>(y * kColumns + at)]);
        };
        const int64_t down = row.at - 1024 * row.lower;
        const int64_t right = column.at - 1024 * column.lower;
        const int64_t sum =
            value(row.lower, column.lower) * (1024 - down) * (1024 - right) +
            value(row.upper, column.lower) * down * (1024 - right) +
            value(row.lower, column.upper) * (1024 - down) * right +
            value(row.upper, column.upper) * down * right;
        const int64_t half = sum > 0 ? 1 << 19 : -(1 << 19);
        expected.push_back(static_cast<double>((sum + half) / (1 << 20)));
      }
    }
    ExpectWithin(op.Run(), expected, 0);
  }
}

// Operands whose scale is not the result's are rescaled in floats.
TEST(Formulas, Concatenation) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Quantized a = draw.Of(DType::kU8), b = draw.Of(DType::kU8);
    OneOperator op(Code::CONCATENATION);
    op.Input(NumbersOf(a, {kCount}), a.scale)
        .Input(NumbersOf(b, {kCount}), b.scale)
        .Output(DType::kU8, {2 * kCount}, a.scale);
    std::vector<double> expected = a.values;
    const float scale = b.scale.scale * (1.0f / a.scale.scale);
    const float offset = static_cast<float>(-b.scale.zero_point) * scale;
    for (const double value : b.values) {
      const float real = static_cast<float>(value) * scale + offset;
      expected.push_back(
          Clamped(static_cast<int64_t>(std::round(real)) + a.scale.zero_point,
                  DType::kU8));
    }
    ExpectWithin(op.Run(), expected, 0);
  }
}

// Tests HARD_SWISH, x * relu6(x + 3) / 6, which the formula computes in
// integers of 16 bits.
TEST(Formulas, HardSwish) {
  const auto saturated = [](int32_t x) { return std::clamp(x, -32768, 32767); };
  const auto product16 = [](int32_t a, int32_t b) {
    if (a == -32768 && b == -32768) return 32767;
    const int32_t ab = a * b;
    return (ab + (ab >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
  };
  const auto multiplier16 = [](float scale, int& exponent) {
    const auto multiplier = static_cast<int64_t>(
        std::round(std::frexp(double{scale}, &exponent) * 2147483648.0));
    return static_cast<int32_t>(
        std::min<int64_t>((multiplier + (1 << 15)) >> 16, 32767));
  };
  for (const DType type : kNarrow) {
    CheckUnary(Code::HARD_SWISH, type, [&](int32_t x, Scale in, Scale out) {
      const float fine = (1.0f / 128.0f) * in.scale;
      int result_exponent = 0, relu_exponent = 0;
      const int32_t result = multiplier16(fine / out.scale, result_exponent);
      const int32_t relu =
          multiplier16(fine / (3.0f / 32768.0f), relu_exponent);
      const int32_t on_result = product16(x * 128, result);
      int32_t gate = x * 128;
      if (relu_exponent > 0) gate = saturated(gate << (relu_exponent - 1));
      gate = product16(gate, relu);
      if (relu_exponent > 0) gate = saturated(gate << 1);
      if (relu_exponent < 0) gate = RoundingDivide(gate, -relu_exponent);
      gate = (gate + (1 << 15)) >> 1;
      const int32_t both = gate * on_result / (1 << 15);
      return RoundingDivide(both, std::max(-result_exponent, 0));
    });
  }
}

// The rounding depends on sums of floats, so results are only within one step.
TEST(Formulas, SoftmaxAndItsLogarithm) {
  constexpr size_t kRows = 16, kColumns = 16;
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    for (const DType type : kNarrow) {
      for (const bool is_logarithm : {false, true}) {
        Quantized x = draw.Of(type);
        x.scale.scale = 0.02f + 0.02f * static_cast<float>(round);
        const Scale out = is_logarithm ? Scale{16.0f / 256, HighestOf(type)}
                                       : Scale{1.0f / 256, LowestOf(type)};
        OneOperator op(is_logarithm ? Code::LOG_SOFTMAX : Code::SOFTMAX);
        op.Input(NumbersOf(x, {kRows, kColumns}), x.scale)
            .Output(type, {kRows, kColumns}, out);
        if (!is_logarithm) {
          op.Options(BuiltinOptions::SoftmaxOptions,
                     schema::CreateSoftmaxOptions(op.fbb(), 1));
        }
        std::vector<double> expected;
        for (size_t row = 0; row < kRows; ++row) {
          const auto begin =
              x.values.begin() + static_cast<int64_t>(row * kColumns);
          const double most = *std::max_element(begin, begin + kColumns);
          float sum = 0;
          for (size_t i = 0; i < kColumns; ++i) {
            sum += std::exp(
                x.scale.scale *
                static_cast<float>(begin[static_cast<int64_t>(i)] - most));
          }
          for (size_t i = 0; i < kColumns; ++i) {
            const auto below =
                static_cast<float>(begin[static_cast<int64_t>(i)] - most);
            const float real =
                is_logarithm
                    ? (x.scale.scale * below - std::log(sum)) / out.scale
                    : std::exp(x.scale.scale * below) / (sum * out.scale);
            expected.push_back(
                Clamped(static_cast<int64_t>(is_logarithm ? std::rint(real)
                                                          : std::round(real)) +
                            out.zero_point,
                        type));
          }
        }
        ExpectWithin(op.Run(), expected, 1);
      }
    }
  }
}

// Functions that are computed in floats for each of the 256 possible operands
// (tables) are tested on all of them.
TEST(Formulas, Tables) {
  const std::pair<Code, float (*)(float)> cases[] = {
      {Code::LOGISTIC, [](float x) { return 1.0f / (1.0f + std::exp(-x)); }},
      {Code::TANH, [](float x) { return std::tanh(x); }},
      {Code::ELU, [](float x) { return x < 0 ? std::expm1(x) : x; }},
      {Code::EXP, [](float x) { return std::exp(x); }},
      {Code::RELU_0_TO_1, [](float x) { return std::clamp(x, 0.0f, 1.0f); }},
      {Code::GELU,
       [](float x) {
         return x * 0.5f * std::erfc(-x * static_cast<float>(M_SQRT1_2));
       }},
  };
  for (const auto& [code, function] : cases) {
    for (const DType type : kNarrow) {
      const auto formula = [&function = function](int32_t x, Scale in,
                                                  Scale out) {
        const float real = in.scale * static_cast<float>(x);
        const float steps = std::round(function(real) * (1 / out.scale));
        return static_cast<int32_t>(std::clamp(steps, -1e6f, 1e6f));
      };
      CheckUnary(code, type, formula);
    }
  }
}

TEST(Formulas, Bounds) {
  const std::tuple<Code, float, float> cases[] = {
      {Code::RELU, 0.0f, HUGE_VALF},
      {Code::RELU6, 0.0f, 6.0f},
      {Code::RELU_N1_TO_1, -1.0f, 1.0f},
  };
  for (const auto& [code, low, high] : cases) {
    for (const DType type : kNarrow) {
      const auto formula = [low = low, high = high](int32_t x, Scale in,
                                                    Scale out) {
        const int32_t scaled = Scaled(x, double{in.scale / out.scale});
        const int32_t least = static_cast<int32_t>(std::round(low / out.scale));
        if (std::isinf(high)) return std::max(scaled, least);
        return std::clamp(scaled, least,
                          static_cast<int32_t>(std::round(high / out.scale)));
      };
      CheckUnary(code, type, formula);
    }
  }
}

// The operand [1, 6, 1, 1] is read by a window of 2 with a stride of 2, so that
// windows do not overlap.
TEST(Formulas, TransposedConvolution) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    for (const DType type : kNarrow) {
      const Quantized x = draw.Of(type, 6);
      Quantized w = draw.Of(type, 2);
      if (type == DType::kI8) w.scale.zero_point = 0;
      const Scale out = draw.ScaleOf(type);
      OneOperator op(Code::TRANSPOSE_CONV);
      op.Constant(I32({4}, {1, 12, 1, 1}));
      op.Constant(NumbersOf(w, {1, 2, 1, 1}), w.scale);
      op.Input(NumbersOf(x, {1, 6, 1, 1}), x.scale);
      op.Output(type, {1, 12, 1, 1}, out);
      op.Options(BuiltinOptions::TransposeConvOptions,
                 schema::CreateTransposeConvOptions(
                     op.fbb(), schema::Padding::VALID, 1, 2));
      const double product =
          type == DType::kU8 ? double{x.scale.scale * w.scale.scale}
                             : double{x.scale.scale} * double{w.scale.scale};
      std::vector<double> expected;
      for (size_t i = 0; i < 12; ++i) {
        expected.push_back(
            Clamped(int64_t{Scaled(x.Centered(i / 2) * w.Centered(i % 2),
                                   product / double{out.scale})} +
                        out.zero_point,
                    type));
      }
      ExpectWithin(op.Run(), expected, 0);
    }
  }
}

// Matrices [3, 8] and [8, 3] are multiplied; halves are rounded up.
TEST(Formulas, BatchMatMul) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Quantized a = draw.Of(DType::kI8, 24), b = draw.Of(DType::kI8, 24);
    const Scale out = draw.ScaleOf(DType::kI8, 0.5, 5);
    OneOperator op(Code::BATCH_MATMUL);
    op.Input(NumbersOf(a, {3, 8}), a.scale)
        .Input(NumbersOf(b, {8, 3}), b.scale)
        .Output(DType::kI8, {3, 3}, out);
    const double scale =
        double{a.scale.scale * b.scale.scale} / double{out.scale};
    std::vector<double> expected;
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        int32_t sum = 0;
        for (size_t k = 0; k < 8; ++k)
          sum += a.Centered(i * 8 + k) * b.Centered(k * 3 + j);
        expected.push_back(
            Clamped(int64_t{Scaled(sum, scale, Halves::kUp)} + out.zero_point,
                    DType::kI8));
      }
    }
    ExpectWithin(op.Run(), expected, 0);
  }
}

// Results of operators that compute with real numbers are within one step of
// the formula, as the coverage page says.
TEST(Formulas, ThroughReals) {
  const auto quantized = [](double real, Scale out, DType type) {
    return Clamped(
        static_cast<int64_t>(std::clamp(std::round(real / double{out.scale}) +
                                            static_cast<double>(out.zero_point),
                                        -1e6, 1e6)),
        type);
  };
  const std::pair<Code, double (*)(double)> unary[] = {
      {Code::NEG, [](double x) { return -x; }},
      {Code::SQUARE, [](double x) { return x * x; }},
      {Code::SIN, [](double x) { return std::sin(x); }},
      {Code::COS, [](double x) { return std::cos(x); }},
      {Code::FLOOR, [](double x) { return std::floor(x); }},
      {Code::CEIL, [](double x) { return std::ceil(x); }},
  };
  Draw draw;
  for (const auto& [code, function] : unary) {
    const Quantized x = draw.Of(DType::kI8);
    const Scale out = draw.ScaleOf(DType::kI8);
    OneOperator op(code);
    op.Input(NumbersOf(x, {kCount}), x.scale).Output(DType::kI8, {kCount}, out);
    std::vector<double> expected;
    for (size_t i = 0; i < kCount; ++i)
      expected.push_back(quantized(
          function(x.Centered(i) * double{x.scale.scale}), out, DType::kI8));
    ExpectWithin(op.Run(), expected, 1);
  }
  const std::pair<Code, double (*)(double, double)> binary[] = {
      {Code::DIV, [](double a, double b) { return a / b; }},
      {Code::ADD_N, [](double a, double b) { return a + b; }},
  };
  for (const auto& [code, function] : binary) {
    const Quantized a = draw.Of(DType::kU8);
    Quantized b = draw.Of(DType::kU8);
    for (double& value : b.values)
      value += value == static_cast<double>(b.scale.zero_point) ? 1 : 0;
    const Scale out = draw.ScaleOf(DType::kU8);
    OneOperator op(code);
    op.Input(NumbersOf(a, {kCount}), a.scale)
        .Input(NumbersOf(b, {kCount}), b.scale)
        .Output(DType::kU8, {kCount}, out);
    std::vector<double> expected;
    for (size_t i = 0; i < kCount; ++i) {
      expected.push_back(
          quantized(function(a.Centered(i) * double{a.scale.scale},
                             b.Centered(i) * double{b.scale.scale}),
                    out, DType::kU8));
    }
    ExpectWithin(op.Run(), expected, 1);
  }
  // L2_NORMALIZATION scales each row to the length 1.
  const Quantized x = draw.Of(DType::kI8);
  OneOperator norm(Code::L2_NORMALIZATION);
  norm.Input(NumbersOf(x, {16, 16}), x.scale)
      .Output(DType::kI8, {16, 16}, {1.0f / 128, 0});
  std::vector<double> expected;
  for (size_t row = 0; row < 16; ++row) {
    double squares = 0;
    for (size_t i = 0; i < 16; ++i)
      squares += std::pow(x.Centered(row * 16 + i), 2);
    for (size_t i = 0; i < 16; ++i) {
      expected.push_back(
          quantized(x.Centered(row * 16 + i) / std::sqrt(squares),
                    {1.0f / 128, 0}, DType::kI8));
    }
  }
  ExpectWithin(norm.Run(), expected, 1);
}

}  // namespace
}  // namespace ember::tests
