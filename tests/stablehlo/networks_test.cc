// Tests whole programs against plain formulas; names, dims and entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/testing/sample_models.h"
#include "tests/stablehlo/run_program.h"

namespace ember::tests {
namespace {

using Rows = std::vector<std::vector<double>>;

Rows Product(const Rows& a, const Rows& b) {
  Rows y(a.size(), std::vector<double>(b[0].size()));
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b[0].size(); ++j)
      for (size_t k = 0; k < b.size(); ++k) y[i][j] += a[i][k] * b[k][j];
  return y;
}

std::vector<double> Flat(const Rows& rows) {
  std::vector<double> values;
  for (const auto& row : rows)
    values.insert(values.end(), row.begin(), row.end());
  return values;
}

std::string ErrorOf(std::string_view text,
                    const frontends::ImportOptions& options = {}) {
  const auto graph = stablehlo::ImportModelContents(text, options, "m");
  return graph.ok() ? "imported" : std::string(graph.status().message());
}

TEST(Networks, Mlp) {
  const Rows x = {{1, 2, 3}, {-1, 0.5, 2}};
  Rows hidden = Product(x, {{1, -1, 0.5, 2}, {0, 1, 1, -2}, {2, 3, -1, 1}});
  const std::vector<double> bias = {0.5, 0, -0.5, 1};
  for (auto& row : hidden)
    for (size_t j = 0; j < 4; ++j) row[j] = std::max(row[j] + bias[j], 0.0);
  const Rows scores = Product(hidden, {{1, 2}, {0.5, 1}, {-2, 1}, {0, -1}});
  std::vector<double> choice;
  for (const auto& row : scores) choice.push_back(row[1] > row[0] ? 1 : 0);
  ExpectResults(
      RunProgram(stablehlo::SampleModel("mlp"), {F32({2, 3}, Flat(x))}),
      {F32({2, 2}, Flat(scores)), I32({2}, choice)});
  const auto graph =
      stablehlo::ImportModelContents(stablehlo::SampleModel("mlp"), {});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->inputs()[0]->name(), "x");
  EXPECT_EQ(graph->output_names()[0], "scores");
  EXPECT_EQ(graph->output_names()[1], "choice");
}

TEST(Networks, Cnn) {
  std::vector<double> image;
  for (int i = 0; i < 16; ++i) image.push_back((i * 7 % 5) - 1.5);
  // The kernel has the dims [row, column, output], in the order in which the
  // program's resource stores it.
  const double kernel[3][3][2] = {{{-1, 1}, {0, 2}, {-1, 1}},
                                  {{1, 0}, {1, 2}, {2, 0}},
                                  {{1, -1}, {0, 2}, {2, 1}}};
  const double scale[] = {2, 0.5}, offset[] = {0.25, -1}, mean[] = {1, 2},
               variance[] = {4, 0.25};
  std::vector<double> expected;
  for (int o = 0; o < 2; ++o) {
    double sum = 0;
    for (int window = 0; window < 4; ++window) {
      double best = -1e9;
      for (int place = 0; place < 4; ++place) {
        const int row = window / 2 * 2 + place / 2;
        const int column = window % 2 * 2 + place % 2;
        double value = 0;
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            const int r = row + i - 1, c = column + j - 1;
            if (r < 0 || r > 3 || c < 0 || c > 3) continue;
            value += image[static_cast<size_t>(r * 4 + c)] * kernel[i][j][o];
          }
        }
        value =
            scale[o] * (value - mean[o]) / std::sqrt(variance[o]) + offset[o];
        best = std::max(best, value);
      }
      sum += best;
    }
    expected.push_back(sum / 4);
  }
  ExpectResults(
      RunProgram(stablehlo::SampleModel("cnn"), {F32({1, 4, 4, 1}, image)}),
      {F32({1, 2}, expected)});
}

TEST(Networks, Transformer) {
  const Rows x = {{1, 0.5}, {-0.25, 2}, {0.75, -1}};
  const Rows wq = {{0.5, 1}, {-1, 0.25}}, wk = {{1, 0}, {0.5, -0.5}};
  const Rows q = Product(x, wq), k = Product(x, wk);
  Rows y;
  for (size_t i = 0; i < 3; ++i) {
    std::vector<double> weights;
    double sum = 0;
    for (size_t j = 0; j <= i; ++j) {
      weights.push_back(std::exp(q[i][0] * k[j][0] + q[i][1] * k[j][1]));
      sum += weights.back();
    }
    std::vector<double> row = {0, 0};
    for (size_t j = 0; j <= i; ++j)
      for (size_t d = 0; d < 2; ++d) row[d] += weights[j] / sum * x[j][d];
    y.push_back(row);
  }
  ExpectResults(RunProgram(stablehlo::SampleModel("transformer"),
                           {F32({3, 2}, Flat(x)), F32({2, 2}, Flat(wq)),
                            F32({2, 2}, Flat(wk))}),
                {F32({3, 2}, Flat(y))});
}

TEST(Networks, OpenDims) {
  const std::string text = stablehlo::SampleModel("mixed");
  for (const int64_t n : {1, 2, 5}) {
    std::vector<double> x, y;
    for (int64_t i = 0; i < 3 * n; ++i) {
      x.push_back(static_cast<double>(i * i % 7));
      y.push_back(x.back() + static_cast<double>(i % 3) + 1);
    }
    // The program takes the rows 0 and 9 of y; the index 9 is clamped to the
    // last row.
    std::vector<double> rows(y.begin(), y.begin() + 3), negative, sums(3);
    rows.insert(rows.end(), y.end() - 3, y.end());
    for (size_t i = 0; i < y.size(); ++i) {
      negative.push_back(-y[i]);
      sums[i % 3] += y[i];
    }
    ExpectResults(
        RunProgram(text, {F32({n, 3}, x), I32({2}, {0, 9}), Bools({}, {1})}),
        {F32({2, 3}, rows), F32({n, 3}, negative), F32({3}, sums)});
  }
  const auto graph = stablehlo::ImportModelContents(text, {});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph::ToString(graph->inputs()[0]->type()), "f32[x_0, 3]");
  EXPECT_EQ(graph->output_names()[2], "result2");
}

TEST(Networks, Bytecode) {
  const std::string bytes = stablehlo::SampleModel("sorted");
  const Numbers x = F32({2, 3}, {1, 2, 3, -1, 5, 0.5});
  ExpectResults(RunProgram(bytes, {x, Bools({}, {1})}),
                {F32({2, 3}, {12, 1, -4, 2, -1, -10})});
  ExpectResults(RunProgram(bytes, {x, Bools({}, {0})}),
                {F32({2, 3}, {-12, -1, 4, -2, 1, 10})});
  const auto graph = stablehlo::ImportModelContents(bytes, {});
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->inputs()[0]->name(), "x");
  EXPECT_EQ(graph->output_names()[0], "y");
}

TEST(Networks, Entries) {
  const std::string text = R"(
func.func @first(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.negate %arg0 : tensor<f32>
  return %0 : tensor<f32>
}
func.func @second(%0: tensor<f32>) -> tensor<f32> {
  return %0 : tensor<f32>
}
)";
  EXPECT_EQ(ErrorOf(text),
            "model 'm': --entry: expected one of the functions 'first', "
            "'second', found none");
  frontends::ImportOptions options;
  options.entry = "first";
  ExpectResults(RunProgram(text, {F32({}, {2})}, options), {F32({}, {-2})});
  options.entry = "second";
  const auto graph = stablehlo::ImportModelContents(text, options);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->inputs()[0]->name(), "arg0");
}

// Complex inputs and results of a program are passed as real tensors with an
// additional last dim of 2, for the real and the imaginary part.
TEST(Networks, ComplexArgumentsAndResults) {
  ExpectResults(RunProgram(R"(
func.func @main(%a: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = FFT, length = [2] : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
})",
                           {F32({2, 2}, {1, 2, 3, 5})}),
                {F32({2, 2}, {4, 7, -2, -3})});
}

TEST(Networks, AllUnsupportedOperatorsInOneError) {
  EXPECT_EQ(
      ErrorOf(R"(
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @my_kernel(%0) : (tensor<f32>) -> tensor<f32>
  %2 = "made.up"(%1) : (tensor<f32>) -> tensor<f32>
  %3 = "made.up"(%2) : (tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
})"),
      "model 'm': unsupported operators: made.up (line 8, 2 times), "
      "stablehlo.all_reduce (line 3; it is about several devices: export the "
      "program for one), stablehlo.custom_call @my_kernel (line 7)");
}

TEST(Networks, ErrorsNameTheOperation) {
  const auto error = [](const std::string& body) {
    return ErrorOf(
        "func.func @main(%a: tensor<2xf32>, %i: tensor<i32>) -> "
        "tensor<2xf32> {\n" +
        body + "\nreturn %r : tensor<2xf32>\n}");
  };
  EXPECT_EQ(error("%r = stablehlo.slice %a [0:3] : (tensor<2xf32>) -> "
                  "tensor<2xf32>"),
            "model 'm': node 'stablehlo.slice (2:6)': dim 0: expected a range "
            "within 2, found [0:3]");
  EXPECT_EQ(error("%r = stablehlo.slice %a [0:1] : (tensor<2xf32>) -> "
                  "tensor<2xf32>"),
            "model 'm': node 'stablehlo.slice (2:6)': result 0: expected "
            "tensor<2xf32>, found f32[1]");
  EXPECT_EQ(error("%x = stablehlo.constant dense<1.0> : tensor<3xf32>\n"
                  "%r = stablehlo.add %a, %x : (tensor<2xf32>, tensor<3xf32>) "
                  "-> tensor<2xf32>"),
            "model 'm': node 'stablehlo.add (3:6)': operand 1: expected shape "
            "[2], found [3]");
  EXPECT_EQ(error("%r = func.call @main(%a, %i) : (tensor<2xf32>, "
                  "tensor<i32>) -> tensor<2xf32>"),
            "model 'm': expected at most 200 calls and regions in each other");
  EXPECT_EQ(ErrorOf("func.func @main(%a: tensor<2xf8E4M3FN>) -> "
                    "tensor<2xf8E4M3FN> {\nreturn %a : tensor<2xf8E4M3FN>\n}"),
            "model 'm': argument 'a': unsupported type tensor<2xf8E4M3FN>");
}

// Each of 15 functions calls the next one twice and passes on a tuple of 1000
// members. Inlining all calls would take too much memory, so a limit refuses
// the program.
TEST(Networks, LargeTuplesThatAreHandedOnVeryOften) {
  constexpr int kMembers = 1000, kDepth = 15;
  std::string members = "tensor<f32>", operands = "%x";
  for (int i = 1; i < kMembers; ++i) {
    members += ", tensor<f32>";
    operands += ", %x";
  }
  std::string text = "!t = tuple<" + members +
                     ">\nfunc.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
                     "%t = \"stablehlo.tuple\"(" +
                     operands + ") : (" + members +
                     ") -> !t\n%r = func.call @f0(%t) : (!t) -> tensor<f32>\n"
                     "return %r : tensor<f32>\n}\n";
  for (int i = 0; i <= kDepth; ++i) {
    text += "func.func private @f" + std::to_string(i) +
            "(%t: !t) -> tensor<f32> {\n";
    const std::string call =
        "func.call @f" + std::to_string(i + 1) + "(%t) : (!t) -> tensor<f32>\n";
    text += i < kDepth ? "%a = " + call + "%b = " + call
                       : "%b = \"stablehlo.get_tuple_element\"(%t) "
                         "<{index = 0 : i32}> : (!t) -> tensor<f32>\n";
    text += "return %b : tensor<f32>\n}\n";
  }
  EXPECT_EQ(ErrorOf(text),
            "model 'm': expected operations with at most 16777216 operands, "
            "members of tuples and attributes, with all calls inlined, found "
            "more");
}

}  // namespace
}  // namespace ember::tests
