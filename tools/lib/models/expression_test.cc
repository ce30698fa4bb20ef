#include "tools/lib/models/expression.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/cpu/device.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/tensors/elements.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

StatusOr<std::shared_ptr<const vm::Module>> Make(
    std::string_view text, const std::vector<std::string>& shapes) {
  std::vector<NamedShape> parsed;
  for (const std::string& shape : shapes)
    parsed.push_back(*ParseShapeSpec(shape));
  return ModuleOfExpression(text, parsed);
}

std::string ErrorOf(std::string_view text,
                    const std::vector<std::string>& shapes) {
  const auto module = Make(text, shapes);
  EXPECT_FALSE(module.ok());
  EXPECT_TRUE(IsCommandLineError(module.status()));
  return std::string(module.status().message());
}

// Runs the expression on these inputs and returns its results as texts.
std::vector<std::string> Results(std::string_view text,
                                 const std::vector<std::string>& shapes,
                                 const std::vector<std::string>& inputs) {
  const auto module = Make(text, shapes);
  if (!module.ok()) return {std::string(module.status().message())};
  const auto session = vm::Session::Create(
      *module, {.device = *hal::CreateCpuDevice({.threads = 1})});
  if (!session.ok()) return {std::string(session.status().message())};
  RandomTensors random(0);
  std::vector<vm::Tensor> tensors, results;
  for (const std::string& input : inputs)
    tensors.push_back(ReadTensorSpec(input, random)->tensor);
  const Status status = (*session)->Run(tensors, &results);
  if (!status.ok()) return {std::string(status.message())};
  std::vector<std::string> texts;
  for (const vm::Tensor& result : results) {
    std::string values = result.TypeText() + " =";
    for (int64_t i = 0; i < result.element_count(); ++i)
      values +=
          " " + std::to_string(static_cast<int64_t>(FloatElement(result, i)));
    texts.push_back(values);
  }
  return texts;
}

TEST(ExpressionTest, ShapesDeclareInputs) {
  EXPECT_EQ(Results("y[i, j] = sum(k) a[i, k] * b[k, j]", {"a=2x2", "b=2x1"},
                    {"2x2xf32=1,2,3,4", "2x1xf32=1,10"}),
            std::vector<std::string>{"2x1xf32 = 21 43"});
}

// The module's inputs are first those of --shape, then those of the text.
TEST(ExpressionTest, TheTextMayDeclareInputs) {
  EXPECT_EQ(Results("a: f32[2] y[i] = a[i] * f32(n[i])", {"n=2xi32"},
                    {"2xi32=5,6", "2xf32=3,4"}),
            std::vector<std::string>{"2xf32 = 15 24"});
}

TEST(ExpressionTest, ThereMayBeSeveralResultsAndScalars) {
  EXPECT_EQ(
      Results("s[] = sum(k) x[k]; y[i] = x[i] * 2", {"x=3"}, {"3xf32=1,2,3"}),
      (std::vector<std::string>{"f32 = 6", "3xf32 = 2 4 6"}));
}

TEST(ExpressionTest, Errors) {
  EXPECT_EQ(ErrorOf("y[i] = x[j]", {"x=4"}),
            "--expression: 1:10: expected an axis of y or of a reduction, as "
            "in sum(j), found 'j'");
  EXPECT_EQ(ErrorOf("x: f32[4] y[i] = x[i]", {"x=4"}),
            "--shape of 'x': expected a tensor that --expression does not "
            "declare, found one that it declares");
  EXPECT_EQ(ErrorOf("y[i] = x[i]", {"x=4x?"}),
            "--shape of 'x': expected extents, found '?'");
  EXPECT_EQ(ErrorOf("x: f32[N] y[i] = x[i]", {}),
            "--expression: expected numbers as extents, found N");
}

}  // namespace
}  // namespace ember::tools
