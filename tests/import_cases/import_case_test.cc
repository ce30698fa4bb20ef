// Tests the language of import cases: what each form means, and the line that
// is reported about a wrong one.
#include "tests/import_cases/import_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/import_cases/formula.h"

namespace ember::tests {
namespace {

using ::testing::ElementsAre;
using Values = std::vector<double>;

std::vector<ImportCase> Parse(const std::string& text) {
  StatusOr<std::vector<ImportCase>> cases =
      ParseImportCases("# Tests.\n" + text, "a.case");
  EXPECT_TRUE(cases.ok()) << cases.status().ToString();
  return cases.ok() ? *std::move(cases) : std::vector<ImportCase>(1);
}

std::string ErrorOf(const std::string& text) {
  const auto cases = ParseImportCases(text, "a.case");
  return cases.ok() ? "" : std::string(cases.status().message());
}

TEST(ImportCase, OperandsAttributesSettingsAndResults) {
  const ImportCase one = Parse(R"(
# A comment.
op: Slice
opset: 13
x: f32[?2, N=3, 1] = 1 2 3 ...
starts: constant i64[1] = 0
steps: absent
names: str[2] = "a b" "c"
axis = -1, alpha = 0.5
mode = "edge"
axes = [0, 1]
scales = [1, 2.5]
keys = ["a", "b"]
keep = true
to = i8
-> f32[2] = inf -1/3
-> bool[] = true
within: 1e-3
)")[0];
  EXPECT_EQ(one.op, "Slice");
  EXPECT_EQ(one.line, 4);
  EXPECT_EQ(one.settings.at("opset"), "13");
  EXPECT_EQ(one.within, 1e-3);
  ASSERT_EQ(one.operands.size(), 4u);
  EXPECT_THAT(one.operands[0].numbers.dims, ElementsAre(2, 3, 1));
  EXPECT_THAT(one.operands[0].open, ElementsAre("?", "N", ""));
  EXPECT_EQ(one.operands[0].numbers.values, (Values{1, 2, 3, 1, 2, 3}));
  EXPECT_TRUE(one.operands[1].is_constant);
  EXPECT_EQ(one.operands[1].numbers.type, DType::kI64);
  EXPECT_TRUE(one.operands[2].is_absent);
  EXPECT_THAT(one.operands[3].strings, ElementsAre("a b", "c"));
  ASSERT_EQ(one.attributes.size(), 8u);
  EXPECT_EQ(one.attributes[0].second, CaseValue(int64_t{-1}));
  EXPECT_EQ(one.attributes[1].second, CaseValue(0.5));
  EXPECT_EQ(one.attributes[2].second, CaseValue(std::string("edge")));
  EXPECT_EQ(one.attributes[3].second, CaseValue(std::vector<int64_t>{0, 1}));
  EXPECT_EQ(one.attributes[4].second, CaseValue(Values{1, 2.5}));
  EXPECT_EQ(one.attributes[5].second,
            CaseValue(std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(one.attributes[6].second, CaseValue(true));
  EXPECT_EQ(one.attributes[7].second, CaseValue(DType::kI8));
  ASSERT_EQ(one.results.size(), 2u);
  EXPECT_EQ(one.results[0].numbers.values, (Values{INFINITY, -1.0 / 3}));
  EXPECT_THAT(one.results[1].numbers.dims, ElementsAre());
  EXPECT_EQ(one.results[1].numbers.values, Values{1});
}

TEST(ImportCase, CasesOfABlockShareTheLinesBeforeTheFirst) {
  const std::vector<ImportCase> cases = Parse(R"(
x: f32[3] = 1..3
op: Neg -> f32[3] from -x
op: Add
y: f32[1] = 10
-> f32[3] from x + y

op: Shape
error: no operand
)");
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].operands.size(), 1u);
  EXPECT_EQ(cases[0].results[0].numbers.values, (Values{-1, -2, -3}));
  EXPECT_EQ(cases[1].operands.size(), 2u);
  EXPECT_EQ(cases[1].results[0].numbers.values, (Values{11, 12, 13}));
  EXPECT_EQ(cases[2].operands.size(), 0u);
  EXPECT_EQ(cases[2].error, "no operand");
}

TEST(ImportCase, WrongTextsGetOneLine) {
  const struct {
    std::string text, error;
  } wrong[] = {
      {"op: A\n", "a.case:1: expected a comment that says what the file tests"},
      {"# T.\n\nop: A\n\n",
       "a.case:4: expected either results or an error of 'A'"},
      {"# T.\nop: A -> f32[] = 1\nerror: b\n",
       "a.case:4: expected either results or an error of 'A'"},
      {"# T.\nx: f32[] = 1\n", "a.case:3: expected 'op:' in the lines above"},
      {"# T.\n-> f32[] = 1\n", "a.case:2: expected 'op:' before '->'"},
      {"# T.\nop: A -> f31[] = 1\n", "a.case:2: unknown type 'f31'"},
      {"# T.\nop: A -> f32 = 1\n",
       "a.case:2: expected a type such as f32[2, 3], found 'f32 = 1'"},
      {"# T.\nop: A -> f32[n] = 1\n",
       "a.case:2: expected a dim such as 2, ?2 or N=2, found 'n'"},
      {"# T.\nop: A -> f32[2] 1 2\n",
       "a.case:2: expected '=' or 'from' after the type"},
      {"# T.\nop: A -> f32[2] = 1\n", "a.case:2: expected 2 values, found 1"},
      {"# T.\nop: A -> f32[2] = ... 1\n",
       "a.case:2: expected values before '...' only"},
      {"# T.\nop: A -> f32[2] = 2..1\n",
       "a.case:2: expected a range such as 0..5, found '2..1'"},
      {"# T.\nop: A -> f32[2] = 1 y\n",
       "a.case:2: formula 'y', character 1: unknown name 'y'"},
      {"# T.\nop: A -> str[1] = a\n",
       "a.case:2: expected a text in quotes, found 'a'"},
      {"# T.\nop: A\nx: f32[1] = 1\nx: f32[1] = 1\n",
       "a.case:4: second operand 'x'"},
      {"# T.\nop: A\naxis = 1\naxis = 1\n",
       "a.case:4: second attribute 'axis'"},
      {"# T.\nop: A\naxis = 1, 2\n",
       "a.case:3: expected 'NAME = VALUE', found '2'"},
      {"# T.\nop: A\nopset: 1\nopset: 1\n", "a.case:4: second setting 'opset'"},
      {"# T.\nop: A -> f32[] = 1\nx: f32[1] = 1\n",
       "a.case:3: expected operands before results"},
      {"# T.\nop: A\nhello\n",
       "a.case:3: expected 'op:', '->', 'NAME: TYPE[DIMS] = VALUES', 'NAME = "
       "VALUE' or a setting"},
  };
  for (const auto& [text, error] : wrong) EXPECT_EQ(ErrorOf(text), error);
}

TEST(Formula, OperatorsAndFunctions) {
  const struct {
    std::string text;
    double expected;
  } formulas[] = {
      {"1 + 2 * 3 - 4 / 8", 6.5},
      {"-(x - 5)", 2},
      {"x < 0 ? 1 : x == 3 ? 2 : 3", 2},
      {"max(x, 4) + clamp(9, 0, 6)", 10},
      {"pow(2, x)", 8},
      {"round(2.5)", 2},
      {"1/(1+exp(-x))", 1 / (1 + std::exp(-3.0))},
      {"atan2(-inf, 1)", -M_PI / 2},
      {"0x10", 16},
  };
  for (const auto& [text, expected] : formulas) {
    SCOPED_TRACE(text);
    const StatusOr<double> value = EvaluateFormula(text, {{"x", 3}});
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_DOUBLE_EQ(*value, expected);
  }
}

TEST(Formula, WrongTextsGetOneLine) {
  const struct {
    std::string text, error;
  } wrong[] = {
      {"1 +", "formula '1 +', character 4: expected a number or a name"},
      {"(1", "formula '(1', character 3: expected ')'"},
      {"1 2", "formula '1 2', character 3: expected the end"},
      {"1 ? 2", "formula '1 ? 2', character 6: expected ':'"},
      {"z", "formula 'z', character 1: unknown name 'z'"},
      {"z(1)", "formula 'z(1)', character 1: unknown function 'z'"},
      {"max(1)",
       "formula 'max(1)', character 1: 'max' takes 2 operands, found 1"},
      {std::string(200, '-'), "expected at most 100 levels"},
  };
  for (const auto& [text, error] : wrong) {
    const StatusOr<double> value = EvaluateFormula(text, {});
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_THAT(std::string(value.status().message()),
                ::testing::HasSubstr(error));
  }
}

}  // namespace
}  // namespace ember::tests
