// Tests Winograd's convolutions: the primitive's results and refusals, the
// errors of results, and where the default schedule uses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/primitives/winograd_matrices.h"
#include "jit/target/cpu_model.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTarget = "x86_64-linux+avx2+fma";

Schedule ScheduleOf(const std::string& text, bool is_constant = true) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  Computation computation = Disassemble(*dispatch, {});
  computation.buffers[1].is_constant = is_constant;
  return Schedule(std::move(computation));
}

struct Shape {
  int64_t images = 1, rows = 8, columns = 8, inputs = 4, outputs = 4;
  int64_t taps = 3, padding = 1;
  bool channels_first = false;
  // True if the stage after the convolution stores its results channels first.
  // If there is one image, that stage reads it by the constant index 0.
  bool results_channels_first = false;
  // height and width of the convolution's input
  int64_t height() const { return rows + taps - 1 - 2 * padding; }
  int64_t width() const { return columns + taps - 1 - 2 * padding; }
};

std::string Convolution(const Shape& s) {
  const auto text = [](int64_t number) { return std::to_string(number); };
  const std::string h = "h + p - " + text(s.padding);
  const std::string w = "w + q - " + text(s.padding);
  const std::string image = text(s.height()) + ", " + text(s.width());
  const std::string x = s.channels_first ? text(s.inputs) + ", " + image
                                         : image + ", " + text(s.inputs);
  const std::string index =
      s.channels_first ? "c, " + h + ", " + w : h + ", " + w + ", c";
  const std::string map = text(s.rows) + ", " + text(s.columns);
  const std::string conv = text(s.images) + ", " + map + ", " + text(s.outputs);
  const std::string y =
      s.results_channels_first
          ? text(s.images) + ", " + text(s.outputs) + ", " + map
          : conv;
  const std::string stored =
      s.results_channels_first ? "n, o, h, w" : "n, h, w, o";
  const std::string read =
      s.results_channels_first && s.images == 1 ? "0, h, w, o" : "n, h, w, o";
  const std::string taps = text(s.taps);
  return "dispatch @conv(%x: f32[" + text(s.images) + ", " + x + "], %w: f32[" +
         taps + ", " + taps + ", " + text(s.inputs) + ", " + text(s.outputs) +
         "]) -> (%y: f32[" + y + "]) {\n  temp %conv: f32[" + conv +
         "]\n  %conv[n, h, w, o] = sum(p < " + taps + ", q < " + taps +
         ", c < " + text(s.inputs) + ") pad(%x[n, " + index +
         "], 0.0) * %w[p, q, c, o]\n  %y[" + stored + "] = max(%conv[" + read +
         "], -1000000.0)\n}\n";
}

// Returns the largest error of the schedule's results, relative to the sum of
// the absolute values of a result's products.
double LargestError(const Shape& s, const Schedule& schedule) {
  auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return 1;
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> x(
      static_cast<size_t>(s.images * s.height() * s.width() * s.inputs));
  std::vector<float> w(
      static_cast<size_t>(s.taps * s.taps * s.inputs * s.outputs));
  std::vector<float> y(
      static_cast<size_t>(s.images * s.rows * s.columns * s.outputs));
  for (float& value : x) value = values(random);
  for (float& value : w) value = values(random);
  void* const buffers[] = {x.data(), w.data(), y.data()};
  const Status status = loops::Evaluate(*nest, {}, buffers);
  EXPECT_TRUE(status.ok()) << status.ToString();
  double largest = 0;
  for (int64_t n = 0; n < s.images; ++n) {
    for (int64_t i = 0; i < s.rows * s.columns; ++i) {
      for (int64_t o = 0; o < s.outputs; ++o) {
        double sum = 0, magnitude = 0;
        for (int64_t t = 0; t < s.taps * s.taps; ++t) {
          const int64_t h = i / s.columns + t / s.taps - s.padding;
          const int64_t v = i % s.columns + t % s.taps - s.padding;
          if (h < 0 || h >= s.height() || v < 0 || v >= s.width()) continue;
          for (int64_t c = 0; c < s.inputs; ++c) {
            const int64_t place =
                s.channels_first
                    ? ((n * s.inputs + c) * s.height() + h) * s.width() + v
                    : ((n * s.height() + h) * s.width() + v) * s.inputs + c;
            const double product =
                static_cast<double>(x[static_cast<size_t>(place)]) *
                w[static_cast<size_t>((t * s.inputs + c) * s.outputs + o)];
            sum += product;
            magnitude += std::abs(product);
          }
        }
        const int64_t at = s.results_channels_first
                               ? (n * s.outputs + o) * s.rows * s.columns + i
                               : (n * s.rows * s.columns + i) * s.outputs + o;
        largest = std::max(
            largest, std::abs(y[static_cast<size_t>(at)] - sum) / magnitude);
      }
    }
  }
  return largest;
}

// --- Tests of the primitive `winograd`. ---

TEST(Winograd, Matrices) {
  const WinogradMatrices f = MakeWinogradMatrices(4, 3);
  EXPECT_EQ(f.input[0], (std::vector<double>{4, 0, -5, 0, 1, 0}));
  EXPECT_EQ(f.input[5], (std::vector<double>{0, 4, 0, -5, 0, 1}));
  EXPECT_EQ(f.output[3], (std::vector<double>{0, 1, -1, 8, -8, 1}));
  EXPECT_EQ(f.filter[0], (std::vector<double>{0.25, 0, 0}));
  // Computes convolutions of integers in one dim by tiles of every size.
  // Results are exact except for the rounding of quotients in the filter's
  // matrix.
  for (int taps = 2; taps < kLargestWinogradTile; ++taps) {
    for (int outputs = 1; outputs + taps - 1 <= kLargestWinogradTile;
         ++outputs) {
      const WinogradMatrices matrices = MakeWinogradMatrices(outputs, taps);
      for (size_t i = 0; i < matrices.output.size(); ++i) {
        double sum = 0, expected = 0;
        for (size_t j = 0; j < matrices.input.size(); ++j) {
          double filter = 0, input = 0;
          for (size_t k = 0; k < matrices.filter[j].size(); ++k)
            filter += matrices.filter[j][k] * static_cast<double>(k * k + 2);
          for (size_t k = 0; k < matrices.input.size(); ++k)
            input += matrices.input[j][k] * static_cast<double>(3 * k + 1);
          sum += matrices.output[i][j] * filter * input;
        }
        for (size_t k = 0; k < matrices.filter[0].size(); ++k)
          expected += static_cast<double>((k * k + 2) * (3 * (i + k) + 1));
        EXPECT_NEAR(sum, expected, 1e-9) << outputs << " " << taps;
      }
    }
  }
}

// The largest errors must not exceed those that winograd_matrices.h states.
TEST(Winograd, Errors) {
  const Shape shape{.rows = 12, .columns = 12, .inputs = 64, .outputs = 8};
  const Schedule direct = ScheduleOf(Convolution(shape));
  const double direct_error = LargestError(shape, direct);
  std::printf("direct: %.3g\n", direct_error);
  const double kLargest[] = {2e-7, 2e-7, 2e-6};
  EXPECT_LT(direct_error, kLargest[0]);
  EXPECT_TRUE(KeepsRounding(direct));
  for (const int outputs : {2, 4}) {
    Schedule schedule = ScheduleOf(Convolution(shape));
    const Status status = Apply(
        "winograd %conv " + std::to_string(outputs) + " -> u v p", schedule);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_FALSE(KeepsRounding(schedule));
    const double error = LargestError(shape, schedule);
    std::printf("F(%d, 3): %.3g\n", outputs, error);
    EXPECT_LT(error, kLargest[outputs / 2]);
    EXPECT_GT(error, 0);
  }
  EXPECT_NEAR(ErrorGrowth(MakeWinogradMatrices(2, 3)), 2.7, 0.05);
  EXPECT_NEAR(ErrorGrowth(MakeWinogradMatrices(4, 3)), 16, 0.05);
}

TEST(Winograd, ShapesOfAnyKind) {
  for (const Shape& shape :
       {Shape{.rows = 7, .columns = 5}, Shape{.images = 3, .rows = 9},
        Shape{.rows = 6, .columns = 6, .padding = 0},
        Shape{.rows = 7, .taps = 2, .padding = 0},
        Shape{.taps = 5, .padding = 2}, Shape{.inputs = 1, .outputs = 1},
        Shape{.rows = 2, .columns = 3},
        Shape{.images = 2, .channels_first = true}}) {
    for (int64_t outputs = 2; outputs + shape.taps - 1 <= 6; ++outputs) {
      Schedule schedule = ScheduleOf(Convolution(shape));
      const Status status = Apply(
          "winograd %conv " + std::to_string(outputs) + " -> u v p", schedule);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_LT(LargestError(shape, schedule), 1e-4) << Convolution(shape);
    }
  }
}

TEST(Winograd, Refusals) {
  const auto expect = [](const std::string& text, const std::string& line,
                         const std::string& reason, bool is_constant = true,
                         const std::string& before = "") {
    SCOPED_TRACE(reason);
    Schedule schedule = ScheduleOf(text, is_constant);
    ASSERT_TRUE(Replay(before, schedule).ok());
    const Status status = Apply(line, schedule);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(reason));
  };
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = Convolution({});
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::string usual = Convolution({});
  const std::string line = "winograd %conv 4 -> u v p";
  expect(usual, line, "expected a filter of constants", false);
  expect(usual, "winograd %y 4 -> u v p", "expected sums over three axes");
  expect(usual, "winograd %conv 5 -> u v p",
         "expected tiles of 2 to 4 results, found 5");
  expect(usual, "winograd %conv 1 -> u v p",
         "expected tiles of 2 to 4 results, found 1");
  expect(usual, "winograd %conv 4 -> u x p", "expected a new name, found 'x'");
  expect(usual, "winograd %conv 4 -> u v u", "expected different names");
  expect(usual, line, "the stage's loops are changed already", true,
         "split %conv c 2 -> c0 c1");
  expect(usual, line, "the stage's loops are marked already", true,
         "unroll %conv c");
  expect(usual, line, "the stage is computed in a loop already", true,
         "compute_at %conv %y h");
  expect(replaced("h + p", "h * 2 + p"), line, "expected stride 1, found 2");
  expect(replaced("w + q", "w + q * 2"), line, "expected dilation 1, found 2");
  expect(replaced("], 0.0)", "], 1.0)"), line, "expected padding with zeros");
  expect(replaced("%w[p, q, c, o]", "%w[p, q, c, 0]"), line,
         "expected a filter for each channel and result");
  expect(replaced("w + q - 1, c]", "w + q - 1, o]"), line,
         "expected one group of channels");
  expect(replaced("q < 3", "q < 2"), line,
         "expected a square window of constant size");
}

// --- Tests of the default schedule. ---

TEST(Winograd, WhereTheModelSaysSo) {
  const jit::CpuModel cpu = jit::CpuModel::Of(kTarget);
  const auto text_of = [&](const Shape& shape, bool is_exact) {
    Schedule schedule = ScheduleOf(Convolution(shape));
    const Status status = ScheduleByModel(cpu, schedule, {.exact = is_exact});
    EXPECT_TRUE(status.ok()) << status.ToString();
    return schedule.ToText();
  };
  const Shape large{.rows = 56, .columns = 56, .inputs = 64, .outputs = 64};
  EXPECT_THAT(text_of(large, false), HasSubstr("winograd %conv 4"));
  EXPECT_THAT(text_of(large, true), Not(HasSubstr("winograd")));
  // A convolution with few channels stays direct: the transformations would
  // take longer than the multiplications that they save.
  const Shape narrow{.rows = 56, .columns = 56, .inputs = 3, .outputs = 64};
  EXPECT_THAT(text_of(narrow, false), Not(HasSubstr("winograd")));
}

// The cases have several blocks, tiles that are cut off, lanes that are masked,
// and channels that must be moved last.
TEST(Winograd, DefaultSchedulesCompute) {
  constexpr const char* kWide = "x86_64-linux+avx2+fma+avx512f";
  struct Case {
    const char* target;
    Shape shape;
  };
  for (const Case& c :
       {Case{kTarget, {.rows = 12, .columns = 15, .inputs = 32, .outputs = 36}},
        Case{kWide, {.rows = 13, .columns = 12, .inputs = 32, .outputs = 36}},
        Case{kTarget,
             {.images = 2,
              .rows = 14,
              .columns = 14,
              .inputs = 20,
              .outputs = 24}},
        Case{kTarget,
             {.rows = 14,
              .columns = 14,
              .inputs = 32,
              .outputs = 32,
              .channels_first = true}},
        Case{kTarget,
             {.rows = 14,
              .columns = 14,
              .inputs = 32,
              .outputs = 32,
              .results_channels_first = true}},
        Case{kWide,
             {.images = 2,
              .rows = 14,
              .columns = 13,
              .inputs = 32,
              .outputs = 36,
              .results_channels_first = true}}}) {
    Schedule schedule = ScheduleOf(Convolution(c.shape));
    ASSERT_TRUE(ScheduleByModel(jit::CpuModel::Of(c.target), schedule).ok());
    EXPECT_FALSE(KeepsRounding(schedule)) << schedule.ToText();
    EXPECT_LT(LargestError(c.shape, schedule), 1e-5) << schedule.ToText();
  }
}

}  // namespace
}  // namespace ember::schedule
